package template

import "go.yaml.in/yaml/v3"

func (r *resolver) bucket(is Resource, properties *yaml.Node) (Bucket, error) {
	var p struct {
		ObjectLockConfiguration struct {
			Rule struct{ DefaultRetention Retention }
		}
	}
	object, err := r.object(properties)
	if err == nil {
		err = decode(object, &p)
	}
	return Bucket{is, p.ObjectLockConfiguration.Rule.DefaultRetention}, err
}

func (r *resolver) key(is Resource, properties *yaml.Node) (CryptoKey, error) {
	var p struct{ KeySpec, KeyUsage string }
	object, err := r.object(properties)
	if err == nil {
		err = decode(object, &p)
	}
	return CryptoKey{is, p.KeySpec, p.KeyUsage}, err
}
