import { didYouMean } from './nearest.ts'

type Members = Readonly<Record<string, unknown>>

interface Member {
  readonly fits: (value: unknown) => boolean
  /** What fits, in words: it must be … */
  readonly right: string
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isClass = (value: unknown): boolean => typeof value === 'function'
const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)
const has = (members: Readonly<Record<string, (value: unknown) => boolean>>) => (value: unknown) =>
  isObject(value) && Object.entries(members).every(([name, fits]) => fits(value[name]))
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
const isTypes = (value: unknown): boolean => value === '*' || (Array.isArray(value) && value.every(isText))

/** The members of `PluginDefinition`. What is in them beyond their form is checked where it is used. */
const members: Readonly<Record<string, Member>> = {
  id: text,
  summary: text,
  apiVersion: { fits: Number.isInteger, right: 'a whole number' },
  config: { fits: has({ type: type => type === 'object' }), right: 'an object schema: s.Object({ … })' },
  configPath: text,
  environment: { fits: isObject, right: 'an object of variables' },
  resources: list(isObject, 'of what defineResource(…) returns'),
  permissions: { fits: isObject, right: 'an object of permissions' },
  provides: list(has({ port: isText, by: isClass }), 'of what provide(…) returns'),
  services: list(isClass, 'of classes'),
  wraps: texts('of ports'),
  routes: { fits: isObject, right: 'an object of routes, such as the exports of a module' },
  middleware: list(isMiddleware, `of { phase, use } or { phase, by } with a phase of ${phases.join(', ')}`),
  crossOriginHeaders: { fits: has({ request: Array.isArray, response: Array.isArray }), right: '{ request: […], response: […] }' },
  collections: list(has({ name: isText }), 'of what collection(…) returns'),
  events: texts('of event types'),
  handlers: list(has({ types: isTypes, by: isClass, name: isText }), 'of what on(…) and onBatch(…) return'),
  formerHandlers: texts('of names of handlers'),
  periodic: list(
    has({ name: isText, everyMs: isInterval, task: isClass }),
    'of { name, everyMs, task } with an everyMs above 0 and a class as task',
  ),
  isLocal: flag,
  isSwitchable: flag,
  migrations: { fits: value => value instanceof URL, right: 'the URL of a folder beside the module, not its path' },
}

const required = ['id', 'summary']

/** Refuses a definition with a member that is unknown, missing or of the wrong form: plugins are also written without types. */
export const checkMembers = (definition: object): void => {
  // That of another plugin may be spread into it.
  const { isPlugin: _, ...given } = definition as Members
  const refuse = (why: string): never => {
    throw new Error(`${isText(given['id']) ? given['id'] : 'definePlugin'}: ${why}`)
  }
  const unknown = Object.keys(given).find(name => !Object.hasOwn(members, name))
  if (unknown !== undefined) refuse(`${unknown} is not a member of a plugin${didYouMean(unknown, Object.keys(members), 0.5)}`)
  for (const [name, { fits, right }] of Object.entries(members)) {
    const isAbsent = given[name] === undefined && !required.includes(name)
    if (!isAbsent && !fits(given[name])) refuse(`${name} must be ${right}`)
  }
}
