/** A row for answers that intentionally differ from those of 0.2.0. */
export interface Intended {
  readonly why: string;
  /** Matches a line of the failing test: `story:line METHOD /path /pointer: before -> now`. */
  readonly where: RegExp;
}

export const INTENDED: readonly Intended[] = [
  {
    why: 'a match revision has a limit',
    where: /openapi\.json .*\/revision\/maximum: 9007199254740991 -> 4102444800000$/,
  },
  {
    why: 'a new match in pre or ended is always accepted',
    where: /^match:10 POST .* 409 stale-match -> 200$/,
  },
  {
    why: 'a new match in pre or ended is always accepted',
    where: /^match:34 GET \/api\/log \/body\/events\/{"what":"phase"/,
  },
  {
    why: 'a renewal that changes gains is an event',
    where: /^trials:62 .*{"what":"trial-changed".*: absent -> 1$/,
  },
  { why: 'the document says more', where: /openapi\.json \/body(\/paths\/.*)?\/security: (absent|\[\]) -> / },
  { why: 'the document says more', where: /openapi\.json \/body\/components\/securitySchemes: absent -> / },
  {
    why: 'the document says more',
    where: /\/(Gimbal|Chassis)Excitation\/allOf\/\d\/then\/properties\/\w+: absent -> {}$/,
  },
  {
    why: 'the document says more',
    where: /openapi\.json \/body(\/paths\/\/sim\/|\/tags\/5)[a-z]*: absent -> /,
  },
  {
    why: 'the document says more',
    where: /openapi\.json \/body\/paths\/\/api\/events\/.*\/schema\/(anyOf|type): /,
  },
  {
    why: 'allows says what is allowed now',
    where: / \/body(\/match)?\/allows\/(drive|laser|tune|resume): true -> false$/,
  },
  { why: 'allows says what is allowed now', where: / \/body(\/match)?\/allows\/modes\/\d: .* -> absent$/ },
  {
    why: 'a name has at least one character',
    where: /\/api\/\w+\/compare\/get\/parameters\/\d\/schema\/minLength: absent -> 1$/,
  },
  {
    why: 'one frame sets wave and guard',
    where: /\/(gimbal|chassis)\/flags\/2: "guard" -> "guarded_excitation"$/,
  },
  { why: 'one frame sets wave and guard', where: /\/guardsTrials: absent -> (true|{"type":"boolean"})$/ },
  { why: 'several loops are tuned at once', where: / \/body(\/tune)?\/(loops|results|proposal): absent -> / },
  { why: 'the laser has events', where: /\/events\/\{"what":"laser-failed"/ },
  {
    why: 'several loops are tuned at once',
    where: /openapi\.json .*\/schemas\/(Tune|TunedLoop|(Gimbal|Chassis)Autotune)[/:]/,
  },
  {
    why: 'the login says what is simulated',
    where: / \/api\/session \/body\/simulated: absent -> (true|false)$/,
  },
  { why: 'the login says what is simulated', where: /openapi\.json .*\/schemas\/Session\/.*simulated/ },
  { why: 'a referee sees the age of the last beat', where: / \/body\/beatAgeS: absent -> / },
  { why: 'a referee sees the age of the last beat', where: /openapi\.json .*beatAgeS/ },
  {
    why: 'the page opens with earlier readings',
    where: /openapi\.json \/body\/paths\/\/api\/telemetry: absent -> /,
  },
  {
    why: 'a controller may show its build',
    where: /openapi\.json .*\/(Build|UnitStatus\/properties\/build): absent -> /,
  },
];
