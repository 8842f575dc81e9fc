import { http } from './lean-modules.ts'
import type { OpenapiSchema } from './openapi-schema.ts'

/** Members of a part of an OpenAPI document. */
export type Members = Record<string, unknown>

type Content = Readonly<Record<string, { readonly schema: OpenapiSchema }>>

const problemContent: Content = {
  'application/json': { schema: { $ref: '#/components/schemas/Problem' } },
  'application/problem+json': { schema: { $ref: '#/components/schemas/ProblemDetails' } },
}

/** Responses that many operations have, such as refusals: each is a component, named after its status. */
export class SharedResponses {
  readonly components: Record<string, Members> = {}

  /** A success. */
  answer(status: string, content: Content): Members {
    const description = http.STATUS_CODES[status] ?? 'Answer'
    if (isOfAnyType(content)) return this.#shared(`${wordsOf(status)}OfAnyType`, { description, content })
    return { description, ...(Object.keys(content).length > 0 ? { content } : {}) }
  }

  /** A refusal in the common shape. With `own` content the route refuses in a shape of its own, and everything before the route in the common one. */
  refusal(status: string, own: Content): Members {
    const description = http.STATUS_CODES[status] ?? 'Refused'
    const json = own['application/json']
    const both = json ? { 'application/json': { schema: { anyOf: [json.schema, problemContent['application/json']?.schema] } } } : {}
    const whole = { description, content: { ...problemContent, ...own, ...both } }
    if (Object.keys(own).length === 0) return this.#shared(wordsOf(status), whole)
    return isOfAnyType(own) ? this.#shared(`${wordsOf(status)}OrAnyType`, whole) : whole
  }

  otherRefusal(): Members {
    return this.#shared('Refused', {
      description: 'Any other error, such as an unavailable (503) or full (507) store',
      content: problemContent,
    })
  }

  #shared(name: string, response: Members): Members {
    this.components[name] ??= response
    return { $ref: `#/components/responses/${name}` }
  }
}

/** `NotFound` for 404. */
const wordsOf = (status: string): string => (http.STATUS_CODES[status] ?? `Status ${status}`).replaceAll(/[^A-Za-z0-9]/g, '')

const isOfAnyType = ({ '*/*': any, ...others }: Content): boolean =>
  any !== undefined && Object.keys(others).length === 0 && Object.keys(any.schema).join() === 'type,format'

interface Use {
  readonly parameter: Members
  count: number
}

/**
 * Replaces by references, in place, what parameters of operations have in common, and returns the components. Of several forms of a parameter the
 * most frequent one is shared.
 */
export const shareParameters = (operations: readonly Members[]): Record<string, Members> => {
  const lists = operations.flatMap(({ parameters }) => (Array.isArray(parameters) ? [parameters as Members[]] : []))
  const uses = new Map<string, Use>()
  for (const parameter of lists.flat()) {
    const text = JSON.stringify(parameter)
    const use = uses.get(text) ?? { parameter, count: 0 }
    use.count++
    uses.set(text, use)
  }
  const chosen = new Map<string, Use>()
  for (const use of uses.values()) {
    const name = componentOf(use.parameter)
    if (use.count > 1 && use.count > (chosen.get(name)?.count ?? 0)) chosen.set(name, use)
  }
  for (const list of lists) {
    list.forEach((parameter, at) => {
      const name = componentOf(parameter)
      const isShared = chosen.get(name) === uses.get(JSON.stringify(parameter))
      if (isShared) list[at] = { $ref: `#/components/parameters/${name}` }
    })
  }
  return Object.fromEntries([...chosen].map(([name, { parameter }]) => [name, parameter]))
}

/** `path.id`, `query.limit`. */
const componentOf = (parameter: Members): string => `${parameter['in']}.${parameter['name']}`.replaceAll(/[^\w.-]/g, '_')
