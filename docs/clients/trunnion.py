"""A client of Trunnion with the standard library alone: call, watch, and stop until it is confirmed."""
import contextlib, json, sys, time, urllib.error, urllib.request

def call(base, method, path, body=None, tries=3):
    """The status and the body of the answer. After a 503 it asks again, when Retry-After says so."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=2) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        if refusal.code != 503 or tries <= 1:
            return refusal.code, json.load(refusal)
        time.sleep(float(refusal.headers.get("Retry-After", 1)))
        return call(base, method, path, body, tries - 1)

def stop(base):
    """Returns when no motor can push any more. Nothing is more urgent, so it does not wait for Retry-After."""
    while True:
        with contextlib.suppress(Exception):  # whatever went wrong, it asks again
            status, answer = call(base, "POST", "/api/stop", tries=1)
            if status == 200:
                return answer
        time.sleep(0.1)

def events(base):
    """Yields the name and the data of each event, for as long as the stream lasts."""
    with urllib.request.urlopen(base + "/api/events", timeout=10) as stream:
        for line in map(bytes.decode, stream):
            field, _, value = line.rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                yield name, json.loads(value)

if __name__ == "__main__":
    robot = sys.argv[1]
    print(*call(robot, "POST", "/api/gimbal/mode/switch", {"mode": "auto"}))
    print(*next(events(robot)))
    print(stop(robot))
