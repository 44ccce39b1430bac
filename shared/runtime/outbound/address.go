package outbound

import "net/netip"

var (
	// everywhere is the range of public IPv6 addresses. Other addresses are loopback, link-local, private (including
	// EC2's metadata at fd00:ec2::254) or multicast, or carry an IPv4 address: NAT64 at 64:ff9b::/96 and
	// 64:ff9b:1::/48.
	everywhere = netip.MustParsePrefix("2000::/3")

	// reserved are the blocks of IANA's special-purpose address registries and the multicast blocks.
	reserved = prefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24",
		"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
		"198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		// Within 2000::/3: protocol assignments with Teredo, documentation, 6to4, AS112.
		"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
	)
)

// Public reports whether an address is on the public internet. An IPv4 address in the form ::ffff:a.b.c.d is checked as
// IPv4. An address with a zone is not public.
func Public(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if !a.IsValid() || a.Is6() && !everywhere.Contains(a) {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, t := range texts {
		list = append(list, netip.MustParsePrefix(t))
	}
	return list
}
