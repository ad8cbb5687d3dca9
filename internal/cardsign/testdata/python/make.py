"""Makes cards that are signed by the rules of a2a-python, which are copied here in
their effect: 1.0, before August 2026. Needs python3 and openssl.

    python3 make.py
"""
import base64, json, os, subprocess, tempfile

def clean(d):
    if isinstance(d, dict):
        return {k: c for k, v in d.items() if (c := clean(v)) is not None} or None
    if isinstance(d, list):
        return [c for v in d if (c := clean(v)) is not None] or None
    return None if isinstance(d, str) and not d else d

def b64(b):
    return base64.urlsafe_b64encode(b).rstrip(b"=").decode()

def sign(key, kid, payload):
    header = b64(json.dumps({"alg": "RS256", "kid": kid, "typ": "JOSE"}, separators=(",", ":")).encode())
    text = json.dumps(clean(payload), separators=(",", ":"), sort_keys=True)
    done = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=f"{header}.{b64(text.encode())}".encode(), capture_output=True, check=True)
    return [{"protected": header, "signature": b64(done.stdout)}]

# What MessageToDict makes of the card: no defaults, numbers of a Struct are floats.
v1 = {
    "name": "Café Agent 😀", "description": "tells\ttales\x7f", "version": "1.0.0",
    "supportedInterfaces": [{"url": "https://agent.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "capabilities": {"streaming": False, "extensions": [{"uri": "https://x.example/e",
        "params": {"\ufb33": 1.0, "😀": 1e-06, "big": 1e16, "none": "", "list": [0.5, -0.0]}}]},
    "securitySchemes": {"oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://id.example/"}}},
    "securityRequirements": [{"schemes": {"oidc": {"list": ["openid"]}}}],
    "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}],
}
# What its server adds for clients of 0.3.
compat = dict(v1, url="https://agent.example/", preferredTransport="JSONRPC", protocolVersion="0.3.0",
    security=[{"oidc": ["openid"]}],
    securitySchemes={"oidc": dict(v1["securitySchemes"]["oidc"], type="openIdConnect", openIdConnectUrl="https://id.example/")})
# A requirement without scopes is empty all the way down.
bearer = dict(v1, securitySchemes={"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}}, securityRequirements=[{"schemes": {"bearer": {}}}])
os.chdir(os.path.dirname(os.path.abspath(__file__)))
with tempfile.TemporaryDirectory() as dir:
    key = os.path.join(dir, "key.pem")
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key], check=True, capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", "public.pem"], check=True)
    for name, payload, served in [
        ("v1", v1, v1), ("hybrid", v1, compat), ("bearer", bearer, bearer),
    ]:
        with open(name + ".json", "w") as f:
            json.dump(dict(served, signatures=sign(key, "py", payload)), f)
