import { createHash } from 'node:crypto'

/** What was asked: the route's name, and its parameters as they came. */
export interface AskedQuestion {
  readonly route: string
  readonly parameters: Readonly<Record<string, unknown>>
}

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)

/** Values that come several times say the same in any order. */
const normal = (value: unknown): unknown => (Array.isArray(value) ? [...new Set(value.map(String))].sort() : value)

/** Every parameter that was given, by name. */
export const normalForm = ({ parameters }: AskedQuestion): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.keys(parameters)
      .sort()
      .filter(name => isGiven(parameters[name]))
      .map(name => [name, normal(parameters[name])]),
  )

/** 32 upper-case hex digits, as in Clowder 1.x, of the route and all parameters. */
export const answerKey = (question: AskedQuestion): string =>
  createHash('md5')
    .update(JSON.stringify([question.route, normalForm(question)]))
    .digest('hex')
    .toUpperCase()
