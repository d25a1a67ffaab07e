"""A client of Trunnion with the standard library alone: call, watch, and stop until the stop is confirmed."""
import http.client, json, os, re, sys, time, urllib.error, urllib.request

TOKEN = os.environ.get("TRUNNION_TOKEN")
HEADERS = {"Authorization": "Bearer " + re.sub("[^!-~]", "?", TOKEN.strip())} if TOKEN else {}
NO_ROBOT = "No robot answers. Check the URL (http://HOST:8080) and the network."

def address(base, path):
    """The address of a page may end in a slash and in #token=…"""
    return re.sub("/*(#.*)?$", path, base, count=1)

def call(base, method, path, body=None, tries=3):
    """Returns the status and the body of the answer. Repeats a call that got 503, after the time in Retry-After."""
    data = None if body is None else json.dumps(body).encode()
    headers = {**HEADERS, "Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(address(base, path), data, headers, method=method), timeout=2) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        if refusal.code != 503 or tries <= 1:
            return refusal.code, json.load(refusal)
        time.sleep(float(refusal.headers.get("Retry-After", 1)))
        return call(base, method, path, body, tries - 1)

def stop(base):
    """Returns when no motor can push, or when the robot refuses. Ignores Retry-After: nothing is more urgent."""
    said = False
    while True:
        try:
            status, answer = call(base, "POST", "/api/stop", tries=1)
            if status < 500:
                return status, answer
        except (OSError, ValueError, http.client.HTTPException):  # no answer, or half of one
            said = said or print(NO_ROBOT, "Trying again …", file=sys.stderr) is None
        time.sleep(0.1)

def events(base):
    """Yields the name and the data of each event until the stream ends."""
    with urllib.request.urlopen(urllib.request.Request(address(base, "/api/events"), headers=HEADERS), timeout=10) as stream:
        for line in map(bytes.decode, stream):
            field, _, value = line.rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                yield name, json.loads(value)

if __name__ == "__main__":
    if not sys.argv[1:2] or not sys.argv[1].startswith("http") or sys.argv[2:] not in ([], ["stop"]):
        sys.exit("usage: [TRUNNION_TOKEN=…] python3 trunnion.py URL [stop]")
    robot = sys.argv[1]
    if sys.argv[2:] == ["stop"]:
        code, answer = stop(robot)
        print(code, answer)
        sys.exit(None if code == 200 else "NOT STOPPED. If the robot moves or its laser is lit, cut its power.")
    try:
        code, status = call(robot, "GET", "/api/status")
    except (OSError, ValueError, http.client.HTTPException):
        sys.exit(NO_ROBOT)
    if code != 200:
        sys.exit(status["detail"] + (" Set it as TRUNNION_TOKEN." if code == 401 else ""))
    # The gimbal's own mode: the call shows how it is done, and changes nothing.
    print(*call(robot, "POST", "/api/gimbal/mode/switch", {"mode": status["gimbal"]["mode"]}))
    print(*next(events(robot)))
