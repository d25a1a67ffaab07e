/**
 * Answers that intentionally differ from those of 0.2.0, by the reason. A pattern matches a line of the failing test:
 * `story:line METHOD /path /pointer: before -> now`.
 */
export const INTENDED: Readonly<Record<string, readonly RegExp[]>> = {
  'a match revision has a limit': [/openapi\.json .*\/revision\/maximum: 9007199254740991 -> 4102444800000$/],
  'a new match in pre or ended is always accepted': [
    /^match:10 POST .* 409 stale-match -> 200$/,
    /^match:34 GET \/api\/log \/body\/events\/{"what":"phase"/,
  ],
  'a renewal that changes gains is an event': [/^trials:62 .*{"what":"trial-changed".*: absent -> 1$/],
  'the document says more': [
    /openapi\.json \/body(\/paths\/.*)?\/security: (absent|\[\]) -> /,
    /openapi\.json \/body\/components\/securitySchemes: absent -> /,
    /\/(Gimbal|Chassis)Excitation\/allOf\/\d\/then\/properties\/\w+: absent -> {}$/,
    /openapi\.json \/body(\/paths\/\/sim\/|\/tags\/5)[a-z]*: absent -> /,
    /openapi\.json \/body\/paths\/\/api\/events\/.*\/schema\/(anyOf|type): /,
  ],
  'allows says what is allowed now': [
    / \/body(\/match)?\/allows\/(drive|laser|tune|resume): true -> false$/,
    / \/body(\/match)?\/allows\/modes\/\d: .* -> absent$/,
  ],
  'a name has at least one character': [
    /\/api\/\w+\/compare\/get\/parameters\/\d\/schema\/minLength: absent -> 1$/,
  ],
  'one frame sets wave and guard': [
    /\/(gimbal|chassis)\/flags\/2: "guard" -> "guarded_excitation"$/,
    /\/guardsTrials: absent -> (true|{"type":"boolean"})$/,
  ],
  'several loops are tuned at once': [
    / \/body(\/tune)?\/(loops|results|proposal): absent -> /,
    /openapi\.json .*\/schemas\/(Tune|TunedLoop|(Gimbal|Chassis)Autotune)[/:]/,
  ],
  'the laser has events': [/\/events\/\{"what":"laser-failed"/],
  'the login says what is simulated': [
    / \/api\/session \/body\/simulated: absent -> (true|false)$/,
    /openapi\.json .*\/schemas\/Session\/.*simulated/,
  ],
  'a referee sees the age of the last beat': [/ \/body\/beatAgeS: absent -> /, /openapi\.json .*beatAgeS/],
  'the page opens with earlier readings': [/openapi\.json \/body\/paths\/\/api\/telemetry: absent -> /],
  'a controller may show its build': [/openapi\.json .*\/(Build|UnitStatus\/properties\/build): absent -> /],
};
