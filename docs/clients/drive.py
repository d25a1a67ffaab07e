"""Drives a robot by keyboard, or by a gamepad (/dev/input/js0), with the standard library alone. Linux and macOS."""
import http.client, json, os, re, select, struct, sys, termios, time, tty, urllib.parse, uuid
KEYS = {b"w": ("speed", 0.5), b"s": ("speed", -0.5), b"a": ("turn", 1.0), b"d": ("turn", -1.0),
        b"\x1b[A": ("pitch", 0.5), b"\x1b[B": ("pitch", -0.5), b"\x1b[D": ("yaw", 1.0), b"\x1b[C": ("yaw", -1.0)}
KEY = rb"\x1b+(?:\[\[.|[\[O][0-?]*[^0-?]|[^\x1b\[O])|[^\x1b]"  # A key may send several bytes, in several parts.
STICKS = {0: ("turn", -1.0), 1: ("speed", -0.5), 3: ("yaw", -1.0), 4: ("pitch", -0.5)}  # axes of js0, m/s and rad/s
UNITS = {"gimbal": ("yaw", "pitch"), "chassis": ("speed", "turn")}
KEY_S, ENABLE = 0.3, 4  # A terminal reports no key-up. The left shoulder button must be held.
HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer " + re.sub("[^!-~]", "?", os.environ.get("TRUNNION_TOKEN", "").strip())}
class Robot:
    def __init__(self, url):
        self.id, self.url, self.connection = f"drive.py {uuid.uuid4().hex[:6]}", url, None
        answer = self.call("GET", "/api/match")
        if "t" not in answer: sys.exit(answer["detail"] + (" Set it as TRUNNION_TOKEN." if answer.get("status") == 401 else ""))
        self.ahead = answer["t"] - time.monotonic()  # the robot's clock minus ours
    def call(self, method, path, body=None):
        """Nothing is sent again. After a failure, the next command opens a new connection."""
        try:
            self.connection = self.connection or http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=0.5)
            self.connection.request(method, path, body and json.dumps(body), HEADERS)
            return json.load(self.connection.getresponse())
        except (OSError, ValueError, http.client.HTTPException):
            self.connection = self.connection and self.connection.close()
            return {"detail": "No robot answers. Check the URL (http://HOST:8080) and the network."}
    def drive(self, rates, moved, at):
        """Names only units that move or have moved, so that others may have the rest."""
        asked = {unit: {axis: rates.get(axis, 0) for axis in axes} for unit, axes in UNITS.items() if {*rates, *moved} & {*axes}}
        answer = self.call("POST", "/api/drive", asked | {"holdMs": 200, "notAfterT": at + self.ahead + 0.3, "id": self.id})
        if answer.get("code") == "too-late": self.ahead = self.call("GET", "/api/match").get("t", 0) - time.monotonic()  # It was restarted.
        return answer
def rates_of(source, held, pad, now, typed=bytearray()):
    """The rates that keys or sticks ask for now. `held` has the time of each key, `pad` the state of the gamepad."""
    while select.select([source], [], [], 0)[0]:
        if pad is None:
            typed += os.read(source, 64) or sys.exit("The keyboard is gone.")
            whole = re.match(rb"(?:%s)*" % KEY, typed, re.S).group()
            keys, typed[:] = re.findall(KEY, whole.replace(b"\x1bO", b"\x1b["), re.S), typed[len(whole):]
            held.update((KEYS.get(key, KEYS.get(key.lower())), now) for key in keys)
            continue
        _, value, kind, number = struct.unpack("IhBB", os.read(source, 8) or sys.exit("The gamepad is gone."))
        pad[kind & 3, number] = value / 32767
    if pad is None: return dict(key for key, at in held.items() if key and time.monotonic() - at < KEY_S)
    sticks = STICKS.items() if pad.get((1, ENABLE)) else ()
    return {axis: rate * pad[2, number] for number, (axis, rate) in sticks if abs(rate * pad.get((2, number), 0)) > 0.1}
if __name__ == "__main__":
    len(sys.argv) in (2, 3) or sys.exit("usage: [TRUNNION_TOKEN=…] python3 drive.py URL [/dev/input/js0]. W A S D drive, arrows aim, Ctrl-C ends.")
    robot, held, pad, moved, rates, at = Robot(sys.argv[1]), {}, {} if sys.argv[2:] else None, {}, {}, 0
    if before := pad is None and os.isatty(0) and termios.tcgetattr(0): tty.setcbreak(0)
    try:
        source = 0 if pad is None else os.open(sys.argv[2], os.O_RDONLY)
        while True:
            if pad is None and time.monotonic() - at > KEY_S: rates_of(source, {}, pad, at)  # Keys from before a freeze are old.
            at = time.monotonic()
            moved, rates = rates, rates_of(source, held, pad, at)
            if rates or moved: print(f"\r\x1b[K{json.dumps(robot.drive(rates, moved, at))}", end="", flush=True)
            time.sleep(0.04)
    except KeyboardInterrupt: robot.drive({}, {**moved, **rates}, time.monotonic())
    except OSError: sys.exit("Keyboard or gamepad is gone.")
    finally:
        if before: termios.tcsetattr(0, termios.TCSADRAIN, before)
