/** Whose rights the columns of the oracle are about, in the order of its letters. */
export const columns = [
  ...['anonymous', 'stranger', 'viewer', 'editor', 'grouped', 'spaceAdmin', 'author'],
  ...['readOnly', 'serverAdmin', 'superAdmin', 'extractor', 'readKey', 'otherSpaceKey'],
] as const

/** Refused whatever they request, but on the few routes of `oracle/open-routes.ts`. */
export const outcasts = ['inactive', 'termsPending'] as const

/** Credentials that prove nothing: answered as no one. */
export const wrongCredentials = ['revoked', 'unknownKey'] as const

/** Keys of jobs that the Admin of `lab` submitted: on the file there, and on the dataset. What they reach is a table of its own. */
export const jobKeys = ['fileJobKey', 'datasetJobKey'] as const

export type Column = (typeof columns)[number]
export type Outcast = (typeof outcasts)[number]
export type WrongCredentials = (typeof wrongCredentials)[number]
export type JobKeyCaller = (typeof jobKeys)[number]
export type CallerName = Column | Outcast | WrongCredentials | JobKeyCaller

/** Whose account a caller's own resources are of. */
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

/** Accounts whose resources must be made before they lose the right to make any. */
export const frozen: ReadonlySet<string> = new Set(['readOnly', 'inactive', 'termsPending'])
