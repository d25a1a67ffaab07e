/** A row for answers that intentionally differ from those of 0.2.0. */
export interface Intended {
  /** The issue and its point, such as '24.10'. */
  readonly issue: string;
  /** Matches a line of the failing test: `story:line METHOD /path /pointer: before -> now`. */
  readonly where: RegExp;
}

export const INTENDED: readonly Intended[] = [
  { issue: '24.10', where: /openapi\.json .*\/revision\/maximum: 9007199254740991 -> 4102444800000$/ },
  { issue: '24.10', where: /^match:10 POST .* 409 stale-match -> 200$/ },
  { issue: '24.10', where: /^match:34 GET \/api\/log \/body\/events\/{"what":"phase"/ },
  { issue: '24.12', where: /^trials:62 .*{"what":"trial-changed".*: absent -> 1$/ },
  { issue: '24.17', where: /openapi\.json \/body(\/paths\/.*)?\/security: (absent|\[\]) -> / },
  { issue: '24.17', where: /openapi\.json \/body\/components\/securitySchemes: absent -> / },
  { issue: '24.17', where: /\/(Gimbal|Chassis)Excitation\/allOf\/\d\/then\/properties\/\w+: absent -> {}$/ },
  { issue: '24.17', where: /openapi\.json \/body(\/paths\/\/sim\/|\/tags\/5)[a-z]*: absent -> / },
  { issue: '24.17', where: /openapi\.json \/body\/paths\/\/api\/events\/.*\/schema\/(anyOf|type): / },
  { issue: '24.15', where: / \/body(\/match)?\/allows\/(drive|laser|tune|resume): true -> false$/ },
  { issue: '24.15', where: / \/body(\/match)?\/allows\/modes\/\d: .* -> absent$/ },
  { issue: '25.8', where: /\/api\/\w+\/compare\/get\/parameters\/\d\/schema\/minLength: absent -> 1$/ },
  { issue: '25.4', where: /\/(gimbal|chassis)\/flags\/2: "guard" -> "guarded_excitation"$/ },
  { issue: '25.4', where: /\/guardsTrials: absent -> (true|{"type":"boolean"})$/ },
  { issue: '25.5', where: / \/body(\/tune)?\/(loops|results|proposal): absent -> / },
  { issue: '25.3', where: /\/events\/\{"what":"laser-failed"/ },
  { issue: '25.5', where: /openapi\.json .*\/schemas\/(Tune|TunedLoop|(Gimbal|Chassis)Autotune)[/:]/ },
  { issue: '26.8', where: / \/api\/session \/body\/simulated: absent -> (true|false)$/ },
  { issue: '26.8', where: /openapi\.json .*\/schemas\/Session\/.*simulated/ },
  { issue: '26.9', where: / \/body\/beatAgeS: absent -> / },
  { issue: '26.9', where: /openapi\.json .*beatAgeS/ },
  { issue: '26.12', where: /openapi\.json \/body\/paths\/\/api\/telemetry: absent -> / },
];
