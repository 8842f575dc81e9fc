/** Whose rights the columns of the oracle are about, in the order of its letters. */
export const columns = [
  ...['anonymous', 'stranger', 'viewer', 'editor', 'grouped', 'spaceAdmin', 'author'],
  ...['readOnly', 'serverAdmin', 'superAdmin', 'extractor', 'readKey', 'otherSpaceKey'],
] as const

/** Refused whatever they ask for, but on the few routes that `standing` names. */
export const outcasts = ['inactive', 'revoked', 'unknownKey', 'termsPending'] as const

export type Column = (typeof columns)[number]
export type Outcast = (typeof outcasts)[number]
export type CallerName = Column | Outcast

/** Whose account a caller's own things are of. */
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
  inactive: 'inactive',
  revoked: 'spaceAdmin',
  unknownKey: undefined,
  termsPending: 'termsPending',
} as const satisfies Readonly<Record<CallerName, string | undefined>>

/** Accounts whose things must be made before they lose the right to make any. */
export const frozen: ReadonlySet<string> = new Set(['readOnly', 'inactive', 'termsPending'])
