/**
 * Answers that intentionally differ from those of 0.3.0, by the reason. A pattern matches a line of the failing test:
 * `story:line METHOD /path /pointer: before -> now`.
 */
export const INTENDED: Readonly<Record<string, readonly RegExp[]>> = {
  'a name that people read has no control characters': [
    /openapi\.json .*\/match\/(lease\/)?post\/.*\/(id|holder)\/(minLength|pattern): /,
    /openapi\.json .*\/schemas\/(Gimbal|Chassis)(|Load|Star|Remove)Profile\/properties\/(name|note)\/(pattern|maxLength): /,
  ],
  'no text refuses a lock': [
    /^match:3[12] POST \/api\/match\/lock : 400 invalid-request -> 200$/,
    /^match:34 GET \/api\/log \/body\/events\/{"what":"lock",.*"detail":{"reason":"x*"}}: absent -> 1$/,
    /openapi\.json .*\/match\/lock\/.*\/reason\/(min|max)Length: \d+ -> absent$/,
  ],
  'an excitation ends with torque and contact, and says why': [
    /\/chassis\/excitation\/amplitude: 0\.3 -> 0$/,
    /\/events\/{"what":"excitation",.*"amplitude":0/,
  ],
  'each unit has the time of its reading': [
    /\/(gimbal|chassis)\/t: absent -> /,
    /openapi\.json .*\/schemas\/(Gimbal|Chassis)Telemetry\/(properties\/t|required\/\d): absent -> /,
  ],
  'no heartbeat is tried if the status fails': [
    /\/torque: "unknown" -> "silent"$/,
    /^bus-hang:12 POST \/api\/stop : 503 not-confirmed -> 200$/,
  ],
  'a step of the saved gains has their revision, even in a trial': [/^tuning:\d+ .*\/revision: null -> 1$/],
  'a save says who made it, and from which profile': [
    /\/pidconfig\/history(\?\S*)? \/body\/\d+\/(by|profile): absent -> "/,
    /openapi\.json .*\/(by|profile): absent -> {/,
  ],
  'a tuning reports all full steps of its trials': [
    /\/(before|proposed)\/steps: absent -> \[/,
    /openapi\.json .*\/MeasuredGains\/(properties\/steps|required\/2): absent -> /,
  ],
  'a controller may be driven': [
    /\/(gimbal|chassis)\/flags\/\d: absent -> "motion"$/,
    /\/(gimbal|chassis)\/drivable: absent -> true$/,
    /openapi\.json .*(\/api\/drive|\/UnitStatus\/properties\/(drivable|driver)|\/(GimbalRates|ChassisRates|DriveCommand|Driven|Driver)): absent -> {/,
  ],
  'a value that may be null, and is wrong, has one fault': [
    /^match:\d+ POST \/api\/match \/body\/errors\/[12]: .* -> absent$/,
  ],
  'the name __proto__ is unknown like any other': [/^bodies:82 POST /],
  'a robot has an id, and so has a lock': [
    /^\S+ GET (\S*\/healthz\??|\/api\/status\S*|\/api\/events) .*\/id: absent -> /,
    /\/lock\/id: absent -> "/,
    /openapi\.json .*\/(Health|Status|MatchLock)\/(properties\/id|required\/\d+): /,
  ],
  'a desk names its locks, refuses late permissions and reads lines of the log': [
    /openapi\.json .*\/api\/match(|\/unlock)\/.*(notAfterT|holder|responses\/(400|409|413|415)).*/,
    /openapi\.json .*\/api\/match\/lock\/.*\/properties\/(id|replaces): absent -> {/,
    /openapi\.json .*\/api\/match\/unlock\/.*requestBody: absent -> {/,
    /openapi\.json .*\/api\/log\/lines: absent -> {/,
  ],
  'a robot has metrics': [/openapi\.json .*\/paths\/\/metrics: absent -> {/],
  'problems have new codes': [/openapi\.json .*\/Problem\/properties\/code\/enum\/\d+: /],
  'the event log counts requests that change nothing': [
    /^(locked|stopped|trials):\d+ GET \/api\/log \/body\/events\/.*"outcome":"done".*: \d -> \d$/,
  ],
  'an excitation that has ended is shown with amplitude 0': [
    /^trials:52 GET \/api\/gimbal\/excitation \/body\/amplitude: 0\.1 -> 0$/,
  ],
  'A lease that ran out says so.': [
    /\/lease\/expired: absent -> true$/,
    /openapi\.json .*\/MatchLease\/properties\/expired: absent -> {/,
  ],
};
