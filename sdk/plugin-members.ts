import { isJsonObject } from './json-object.ts'
import { defaultRoles, verbOf } from './model/permission.ts'
import { didYouMean } from './nearest.ts'

type Members = Readonly<Record<string, unknown>>

interface Member {
  readonly fits: (value: unknown) => boolean
  /** What fits, in words: it must be … */
  readonly right: string
  readonly isRequired?: boolean
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isClass = (value: unknown): boolean => typeof value === 'function'
const has = (members: Readonly<Record<string, (value: unknown) => boolean>>) => (value: unknown) =>
  isJsonObject(value) && Object.entries(members).every(([name, fits]) => fits(value[name]))
const list = (fits: (value: unknown) => boolean, right: string): Member => ({
  fits: value => Array.isArray(value) && value.every(fits),
  right: `a list ${right}`,
})

const text: Member = { fits: isText, right: 'a text' }
const flag: Member = { fits: value => typeof value === 'boolean', right: 'true or false' }
const texts = (right: string) => list(isText, right)

const phases: readonly unknown[] = ['beforeRouting', 'afterAuthentication', 'beforeHandler']
const isMiddleware = (value: unknown): boolean =>
  has({ phase: phase => phases.includes(phase) })(value) && (has({ use: isClass })(value) || has({ by: isClass })(value))

const isInterval = (value: unknown): boolean => Number.isFinite(value) && Number(value) > 0
const verbs: readonly unknown[] = [...new Set(Object.values(verbOf))]
const roles = Object.keys(defaultRoles)

/** The members of `PermissionDefinition`. */
const permissionMembers: Readonly<Record<string, Member>> = {
  description: { fits: value => isText(value) && value !== '', right: 'a text', isRequired: true },
  verb: { fits: value => verbs.includes(value), right: `one of ${verbs.join(', ')}`, isRequired: true },
  roles: { ...list(value => isText(value) && roles.includes(value), `of ${roles.join(', ')}`), isRequired: true },
  isReading: flag,
}

const isTypes = (value: unknown): boolean => value === '*' || (Array.isArray(value) && value.every(isText))

/** The members of `PluginDefinition`. What is in them beyond their form is checked where it is used. */
const members: Readonly<Record<string, Member>> = {
  id: { ...text, isRequired: true },
  summary: { ...text, isRequired: true },
  apiVersion: { fits: Number.isInteger, right: 'a whole number' },
  config: { fits: has({ type: type => type === 'object' }), right: 'an object schema: s.Object({ … })' },
  configPath: text,
  environment: { fits: isJsonObject, right: 'an object of variables' },
  resources: list(isJsonObject, 'of what defineResource(…) returns'),
  permissions: { fits: isJsonObject, right: 'an object of permissions' },
  provides: list(has({ port: isText, by: isClass }), 'of what provide(…) returns'),
  services: list(isClass, 'of classes'),
  wraps: texts('of ports'),
  routes: { fits: isJsonObject, right: 'an object of routes, such as the exports of a module' },
  middleware: list(isMiddleware, `of { phase, use } or { phase, by } with a phase of ${phases.join(', ')}`),
  crossOriginHeaders: { fits: has({ request: Array.isArray, response: Array.isArray }), right: '{ request: […], response: […] }' },
  collections: list(has({ name: isText, indexes: isJsonObject }), 'of what collection(…) returns'),
  events: texts('of event types'),
  handlers: list(has({ types: isTypes, by: isClass, name: isText }), 'of what on(…) and onBatch(…) return'),
  formerHandlers: texts('of names of handlers'),
  periodic: list(
    has({ name: isText, everyMs: isInterval, task: isClass }),
    'of { name, everyMs, task } with an everyMs above 0 and a class as task',
  ),
  isLocal: flag,
  keepsLocalData: flag,
  isSwitchable: flag,
  migrations: { fits: value => value instanceof URL, right: 'the URL of a folder beside the module, not its path' },
}

/** What is wrong with an object: a member that is unknown, missing or of the wrong form. Undefined if nothing is. */
const faultOf = (given: Members, known: Readonly<Record<string, Member>>, what: string): string | undefined => {
  const fault = unknownMember(Object.keys(given), Object.keys(known), what)
  if (fault !== undefined) return fault
  const wrong = Object.entries(known).find(([name, { fits, isRequired = false }]) =>
    given[name] === undefined ? isRequired : !fits(given[name]),
  )
  return wrong && `${wrong[0]} must be ${wrong[1].right}`
}

/** The refusal of a member that is not a known one, with a suggestion. */
export const unknownMember = (given: readonly string[], known: readonly string[], what: string): string | undefined => {
  const unknown = given.find(name => !known.includes(name))
  return unknown === undefined ? undefined : `${unknown} is not a member of ${what}${didYouMean(unknown, known, 0.5)}`
}

/** Refuses a definition with a member that is unknown, missing or of the wrong form: plugins are also written without types. */
export const checkMembers = (definition: object): void => {
  // That of another plugin may be spread into it.
  const { isPlugin: _, ...given } = definition as Members
  const refuse = (why: string | undefined): void => {
    if (why !== undefined) throw new Error(`${isText(given['id']) ? given['id'] : 'definePlugin'}: ${why}`)
  }
  refuse(faultOf(given, members, 'a plugin'))
  const { wraps = [], provides = [] } = given as {
    readonly wraps?: readonly string[]
    readonly provides?: readonly { readonly port: string }[]
  }
  const absent = wraps.find(name => !provides.some(({ port }) => port === name))
  refuse(absent && `it wraps ${absent} but does not provide it`)
  for (const [name, permission] of Object.entries((given['permissions'] ?? {}) as Members)) {
    const fault = isJsonObject(permission) ? faultOf(permission, permissionMembers, 'a permission') : 'it must be an object'
    refuse(fault && `in the permission ${name}, ${fault}`)
  }
}
