/** The callers of the oracle's columns, in the order of its letters. */
export const columns = [
  ...['anonymous', 'stranger', 'viewer', 'editor', 'grouped', 'spaceAdmin', 'author'],
  ...['readOnly', 'serverAdmin', 'superAdmin', 'extractor', 'readKey', 'otherSpaceKey'],
] as const

/** Callers whose requests are always refused, except on the routes of `oracle/open-routes.ts`. */
export const outcasts = ['inactive', 'termsPending'] as const

/** Invalid credentials: treated as anonymous. */
export const wrongCredentials = ['revoked', 'unknownKey'] as const

/** Keys of jobs submitted by the Admin of `lab`, on its file and on its dataset. Their access is defined in `oracle/job-keys.ts`. */
export const jobKeys = ['fileJobKey', 'datasetJobKey'] as const

export type Column = (typeof columns)[number]
export type Outcast = (typeof outcasts)[number]
export type WrongCredentials = (typeof wrongCredentials)[number]
export type JobKeyCaller = (typeof jobKeys)[number]
export type CallerName = Column | Outcast | WrongCredentials | JobKeyCaller

/** The account that owns a caller's own resources. */
export const accountOf = {
  anonymous: undefined,
  stranger: 'stranger',
  viewer: 'viewer',
  editor: 'editor',
  grouped: 'grouped',
  spaceAdmin: 'spaceAdmin',
  author: 'author',
  readOnly: 'readOnly',
  serverAdmin: 'admin',
  superAdmin: 'admin',
  extractor: 'spaceAdmin',
  readKey: 'spaceAdmin',
  otherSpaceKey: 'spaceAdmin',
  fileJobKey: 'spaceAdmin',
  datasetJobKey: 'spaceAdmin',
  inactive: 'inactive',
  revoked: undefined,
  unknownKey: undefined,
  termsPending: 'termsPending',
} as const satisfies Readonly<Record<CallerName, string | undefined>>

/** Accounts whose resources must be created before they lose the right to create any. */
export const frozen: ReadonlySet<string> = new Set(['readOnly', 'inactive', 'termsPending'])
