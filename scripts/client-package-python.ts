import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClientOperation, clientOperations, type DescribedApi } from './client-operations.ts'
import type { Schema } from './docs/web-api-page.ts'
import { root } from './server-bundle.ts'

const source = join(root, 'sdk/clients/python')

/** `getDataset` → `get_dataset`. */
const snake = (name: string): string => name.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase()

/** The name of a parameter. `from` is a Python keyword, and `$top` is not an identifier. */
const parameterName = (name: string): string => {
  const word = name.replaceAll(/\W/g, '')
  return ['from', 'self', 'body', 'import', 'class', 'is', 'in'].includes(word) ? `${word}_` : word
}

const pascal = (name: string): string => name.replaceAll(/(?:^|[^A-Za-z\d]+)([A-Za-z\d])/g, (_all, first: string) => first.toUpperCase())

const quoted = (text: string): string => JSON.stringify(text)

const docstring = (text: string, indent: string): string => {
  const safe = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").trim()
  return `${indent}"""${safe.replaceAll(/\s*\n\s*/g, `\n\n${indent}`)}${safe.endsWith('"') ? ' ' : ''}"""\n`
}

/** Models, and the unnamed objects within models and operations. */
class Models {
  readonly lines: string[] = []
  readonly #schemas: Readonly<Record<string, Schema & { readonly description?: string }>>
  readonly #names: Set<string>

  constructor(schemas: DescribedApi['components']['schemas']) {
    this.#schemas = schemas
    this.#names = new Set(Object.keys(schemas))
    for (const [name, schema] of Object.entries(schemas)) this.#model(name, schema)
  }

  #model(name: string, schema: Schema): void {
    if (this.#isObject(schema)) this.#object(name, schema)
    else this.lines.push(`${name}: TypeAlias = ${quoted(this.typeOf(schema, name))}\n`)
  }

  #isObject({ type, properties, allOf }: Schema): boolean {
    return (type === 'object' && properties !== undefined) || (allOf !== undefined && allOf.length > 1)
  }

  /** The properties of a schema, including those of its `allOf` parts. */
  #members(schema: Schema): Record<string, { readonly schema: Schema; readonly isRequired: boolean }> {
    const whole = schema.$ref === undefined ? schema : (this.#schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
    const { properties = {}, required = [], allOf = [] } = whole
    const own = Object.entries(properties).map(([name, member]) => [name, { schema: member, isRequired: required.includes(name) }] as const)
    return Object.assign({}, ...allOf.map(part => this.#members(part)), Object.fromEntries(own))
  }

  #object(name: string, schema: Schema): void {
    const members = Object.entries(this.#members(schema)).map(([key, { schema: member, isRequired }]) => {
      const type = this.typeOf(member, `${name}${pascal(key)}`)
      return `    ${quoted(key)}: ${quoted(isRequired ? type : `NotRequired[${type}]`)},\n`
    })
    this.lines.push(`${name} = TypedDict(${quoted(name)}, {\n${members.join('')}})\n`)
  }

  /** The type of a value; an unnamed object is named after its location. */
  typeOf(schema: Schema, place: string): string {
    const plain = this.#plainType(schema, place)
    return schema.nullable && plain !== 'Any' && plain !== 'None' ? `Optional[${plain}]` : plain
  }

  #plainType(schema: Schema, place: string): string {
    const { $ref, anyOf, allOf, type, items, properties, additionalProperties } = schema
    if ($ref !== undefined) return $ref.split('/').at(-1) ?? ''
    if (schema.enum) return schema.enum.every(value => value === null) ? 'None' : `Literal[${schema.enum.map(literal).join(', ')}]`
    if (anyOf) return this.#union(anyOf.map((branch, at) => this.typeOf(branch, `${place}${at === 0 ? '' : at + 1}`)))
    if (allOf?.length === 1 && allOf[0]) return this.typeOf(allOf[0], place)
    if (this.#isObject(schema)) return properties && Object.keys(properties).length === 0 ? 'Dict[str, Any]' : this.#named(place, schema)
    switch (type) {
      case 'string':
        return schema.format === 'binary' ? 'bytes' : 'str'
      case 'integer':
        return 'int'
      case 'number':
        return 'float'
      case 'boolean':
        return 'bool'
      case 'array':
        return `List[${items ? this.typeOf(items, `${place}Item`) : 'Any'}]`
      case 'object':
        return `Dict[str, ${typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0 ? this.typeOf(additionalProperties, `${place}Value`) : 'Any'}]`
      default:
        return 'Any'
    }
  }

  #union(types: readonly string[]): string {
    const [only, ...others] = new Set(types)
    return others.length === 0 ? (only ?? 'Any') : `Union[${[only, ...others].join(', ')}]`
  }

  #named(place: string, schema: Schema): string {
    let name = place
    for (let n = 2; this.#names.has(name); n++) name = `${place}${n}`
    this.#names.add(name)
    this.#object(name, schema)
    return name
  }
}

const literal = (value: unknown): string =>
  value === null ? 'None' : typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)

const binary = new Set(['application/octet-stream', 'application/offset+octet-stream', 'application/x-ndjson'])

interface Signature {
  readonly parameters: string
  readonly values: string
  readonly query: string
}

const signatureOf = ({ id, parameters, body }: ClientOperation, models: Models): Signature => {
  const [inPath, inQuery] = (['path', 'query'] as const).map(place => parameters.filter(each => each.in === place))
  const typeOf = (name: string, schema: Schema): string => models.typeOf(schema, `${pascal(id)}${pascal(name)}`)
  const passed = (all: typeof parameters): string => `{${all.map(({ name }) => `${quoted(name)}: ${parameterName(name)}`).join(', ')}}`
  const bodyType = (): string => {
    if (body?.mediaType === 'multipart/form-data') return 'Mapping[str, Any]'
    return binary.has(body?.mediaType ?? '') ? 'bytes' : typeOf('body', body?.schema ?? {})
  }
  const named = [
    ...(body ? [body.required ? `body: ${bodyType()}` : `body: Optional[${bodyType()}] = None`] : []),
    ...(inQuery ?? []).map(({ name, required, schema }) => {
      const type = typeOf(name, schema).replace(/^List\[/, 'Sequence[')
      return required ? `${parameterName(name)}: ${type}` : `${parameterName(name)}: Optional[${type}] = None`
    }),
  ]
  const positional = (inPath ?? []).map(({ name, schema }) => `${parameterName(name)}: ${typeOf(name, schema)}`)
  return {
    parameters: ['self', ...positional, ...(named.length > 0 ? ['*', ...named] : [])].join(', '),
    values: passed(inPath ?? []),
    query: passed(inQuery ?? []),
  }
}

const answerTypes = { text: 'str', bytes: 'httpx.Response', empty: 'None' } as const

/** One signature per view; the implementation returns the server's response. */
const overloads = (operation: ClientOperation, word: string, typeOf: (view: ClientOperation) => string, models: Models): string =>
  operation.views
    .map(view => {
      const whole = { ...operation, ...view }
      return `    @overload\n    ${word} ${snake(operation.id)}(${signatureOf(whole, models).parameters}) -> ${typeOf(whole)}: ...\n\n`
    })
    .join('')

const operationMethod = (operation: ClientOperation, models: Models): string => {
  const { id, method, path, answer, body, summary, description, views } = operation
  const { parameters, values, query } = signatureOf(operation, models)
  const typeOf = ({ schema }: ClientOperation): string =>
    answer === 'json' ? models.typeOf(schema, `${pascal(id)}Answer`) : answerTypes[answer]
  const type = views.length > 0 ? 'Any' : typeOf(operation)
  const sent = body ? `, body, ${quoted(body.mediaType)}` : ''
  const call = `await self._connection.call(${quoted(method)}, ${quoted(path)}, ${quoted(answer)}, ${values}, ${query}${sent})`
  const result = type === 'None' ? `        ${call}\n` : `        answer: ${type} = (${call})[0]\n        return answer\n`
  const implementation = `    async def ${snake(id)}(${parameters}) -> ${type}:\n${docstring(`${summary}.\n${description}`, '        ')}${result}`
  return `${overloads(operation, 'async def', typeOf, models)}${implementation}`
}

const listMethod = (operation: ClientOperation, models: Models): string => {
  const { id, path, items = '', summary, views } = operation
  const { parameters, values, query } = signatureOf(operation, models)
  const typeOf = ({ item = {} }: ClientOperation): string => `AsyncIterator[${models.typeOf(item, `${pascal(id)}Item`)}]`
  const type = views.length > 0 ? 'AsyncIterator[Any]' : typeOf(operation)
  const call = `return self._connection.items(${quoted(path)}, ${quoted(items)}, ${values}, ${query})`
  const implementation = `    def ${snake(id)}(${parameters}) -> ${type}:\n${docstring(`${summary}, page by page.`, '        ')}        ${call}\n`
  return `${overloads(operation, 'def', typeOf, models)}${implementation}`
}

const typing = 'Any, AsyncIterator, Dict, List, Literal, Mapping, Optional, Sequence, Union, overload'

const header = (about: string): string =>
  `"""${about} Generated from the OpenAPI document of the API."""\n\nfrom __future__ import annotations\n\n`

const connected = (name: string, about: string, methods: readonly string[]): string =>
  `class ${name}:\n    """${about}"""\n\n    def __init__(self, connection: AsyncConnection) -> None:\n        self._connection = connection\n\n${methods.join('\n')}\n`

const asyncModule = (operations: readonly ClientOperation[], models: Models): string => {
  const calls = operations.map(each => operationMethod(each, models))
  const lists = operations.filter(({ item }) => item !== undefined).map(each => listMethod(each, models))
  return `${header('The operations.')}from typing import ${typing}

import httpx

from ._async import AsyncConnection, AsyncPounceBase
from .models import *


${connected('AsyncApi', 'Every operation: one request each.', calls)}
${connected('AsyncLists', 'Every list, item by item: pages are requested as they are needed.', lists)}

class AsyncPounce(AsyncPounceBase):
    """A client of a Pounce server."""

    @property
    def api(self) -> AsyncApi:
        """Every operation: one request each."""
        return AsyncApi(self._connection)

    @property
    def all(self) -> AsyncLists:
        """Every list, item by item: pages are requested as they are needed."""
        return AsyncLists(self._connection)

    async def __aenter__(self) -> AsyncPounce:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
`
}

/** Replacements that turn the asynchronous code into synchronous code. */
const synchronous: readonly (readonly [RegExp, string])[] = [
  [
    /The asyncio client\. The synchronous client is generated from this file\./g,
    'The synchronous client, generated from the asynchronous one.',
  ],
  [/\basync (def|for|with)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bAsync(?=[A-Z])/g, ''],
  [/\basyncio\b/g, 'time'],
  [/\b__a(enter|exit)__\b/g, '__$1__'],
  [/\b(?<=\.|def )a(close|read|iter_bytes|iter_lines)\b/g, '$1'],
  [/_async\b/g, '_sync'],
]

const toSynchronous = (text: string): string => synchronous.reduce((result, [word, other]) => result.replaceAll(word, other), text)

/** Writes the Python project `pounce-client` to a folder, ready for `pip install` and `python -m build`. */
export const writePythonClient = async (folder: string, document: object, version: string): Promise<void> => {
  const { components } = document as DescribedApi
  const operations = clientOperations(document as DescribedApi)
  const models = new Models(components.schemas)
  const module = asyncModule(operations, models)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await cp(source, folder, { recursive: true })
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const project = await readFile(join(source, 'pyproject.toml'), 'utf8')
  await writeFile(join(folder, 'pyproject.toml'), project.replace('version = "0.0.0"', `version = "${version}"`))
  const imports =
    'from typing import Any, Dict, List, Literal, Optional, Union\n\nfrom typing_extensions import NotRequired, TypeAlias, TypedDict\n\n'
  const names = models.lines.map(line => /^\w+/.exec(line)?.[0] ?? '')
  const exported = `__all__ = [\n${names.map(name => `    ${quoted(name)},\n`).join('')}]\n`
  const files = {
    'models.py': `${header('The models.')}${imports}${models.lines.join('\n')}\n${exported}`,
    '_generated_async.py': module,
    '_generated_sync.py': toSynchronous(module),
    '_sync.py': toSynchronous(await readFile(join(source, 'pounce_client/_async.py'), 'utf8')),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'pounce_client', name), text)
}
