"""What moto's KMS lacks.

- A digest that is to be signed is signed as it is. moto takes it for a message, and digests it once more.
"""

import base64
import json

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from moto.kms.responses import KmsResponse
from moto.kms.utils import ECDSAPrivateKey


def apply():
    sign_digests()


def sign_digests():
    sign = KmsResponse.sign

    def sign_what_is_meant(self):
        key = self.kms_backend.describe_key(self._get_param("KeyId"))
        if self._get_param("MessageType") != "DIGEST" or not isinstance(key.private_key, ECDSAPrivateKey):
            return sign(self)
        signature = key.private_key.private_key.sign(self._get_param("Message"),
            ec.ECDSA(utils.Prehashed(hashes.SHA256())))
        return json.dumps({
            "KeyId": key.arn,
            "Signature": base64.b64encode(signature).decode(),
            "SigningAlgorithm": self._get_param("SigningAlgorithm"),
        })

    KmsResponse.sign = sign_what_is_meant
