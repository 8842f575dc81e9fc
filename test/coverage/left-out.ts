/**
 * Routes of the tiers S, C and R that this version does not serve, with the reason, by `METHOD path` or by group. Also contains the reasons of
 * tier R routes that are served but not tested.
 */
export const leftOut: {
  readonly groups: Readonly<Record<string, string>>
  readonly routes: Readonly<Record<string, string>>
  /** Served routes that never refuse a request, with the reason. */
  readonly neverRefuses: Readonly<Record<string, string>>
} = {
  groups: {},
  routes: {},
  neverRefuses: {
    'GET /healthz': 'it reads neither credentials nor input',
    'GET /contexts/metadata.jsonld': 'it reads neither credentials nor input',
  },
}
