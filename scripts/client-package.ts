import { execFile } from 'node:child_process'
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ClientOperation, clientOperations, type DescribedApi, type DescribedSchema } from './client-operations.ts'
import { parametersType, typeOf } from './docs/web-api-page.ts'
import { root } from './server-bundle.ts'

const source = join(root, 'sdk/clients/typescript')

const plain = (type: string): string => type.replaceAll(/Models\['(\w+)'\]/g, '$1')

const comment = (text: string, indent: string): string =>
  `${indent}/** ${text.replaceAll('*/', '*\\/').replaceAll(/\s*\n\s*/g, `\n${indent} * `)} */\n`

const inputOf = ({ parameters, body }: ClientOperation): string => {
  const [path, query] = ['path', 'query'].map(place => parameters.filter(each => each.in === place))
  const needsPath = (path?.length ?? 0) > 0
  const members = [
    ...(needsPath ? [`readonly path: ${parametersType(parameters, 'path')}`] : []),
    ...(query && query.length > 0
      ? [`readonly query${query.some(each => each.required) ? '' : '?'}: ${parametersType(parameters, 'query')}`]
      : []),
    ...(body ? [`readonly body${body.required ? '' : '?'}: ${bodyType(body)}`] : []),
  ]
  const isNeeded = members.some(member => !/^readonly \w+\?/.test(member))
  return `input${isNeeded ? '' : '?'}: ${[...(members.length > 0 ? [`{ ${members.join('; ')} }`] : []), 'CallOptions'].join(' & ')}`
}

const bodyType = ({ mediaType, schema }: NonNullable<ClientOperation['body']>): string => {
  if (mediaType === 'multipart/form-data') return `FormData | ${typeOf(schema)}`
  return mediaType === 'application/json' ? typeOf(schema) : 'Blob | Uint8Array<ArrayBuffer>'
}

const receivedBytes = ({ body }: ClientOperation): readonly string[] =>
  body === undefined || ['multipart/form-data', 'application/json'].includes(body.mediaType) ? [] : body.mediaTypes

/** The entry of an operation in the table of the client. */
const tableEntry = (operation: ClientOperation): string => {
  const { method, path, answer, items } = operation
  const receives = receivedBytes(operation)
  const list = items === undefined ? [] : [items]
  return JSON.stringify([method, path, answer, ...(receives.length === 0 ? list : [items ?? null, receives])])
}

const answerTypes = { text: 'string', bytes: 'Response', empty: 'undefined' } as const

const answerType = ({ answer, schema }: ClientOperation): string => (answer === 'json' ? typeOf(schema) : answerTypes[answer])

/** The type of a model, with its properties' descriptions as comments. */
const modelType = (schema: DescribedSchema): string => {
  const { type, properties = {}, required = [], nullable } = schema
  if (type !== 'object' || nullable || Object.keys(properties).length === 0) return typeOf(schema)
  const members = Object.entries(properties).map(([name, member]) => {
    const { description } = member as DescribedSchema
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)
    const about = description === undefined ? '' : comment(description, '  ')
    return `${about}  readonly ${key}${required.includes(name) ? '' : '?'}: ${typeOf(member)}\n`
  })
  return `{\n${members.join('')}}`
}

/** The module with the types and the table of operations. */
export const clientModule = (document: object): string => {
  const { components } = document as DescribedApi
  const operations = clientOperations(document as DescribedApi)
  const models = Object.entries(components.schemas).map(
    ([name, schema]) => `${comment(schema.description ?? `${name}.`, '')}export type ${name} = ${modelType(schema)}\n`,
  )
  const signatures = (each: ClientOperation): readonly ClientOperation[] =>
    each.views.length === 0 ? [each] : each.views.map(view => ({ ...each, ...view }))
  const calls = operations
    .flatMap(signatures)
    .map(each => `${comment(`${each.summary}.\n${each.description}`, '  ')}  ${each.id}(${inputOf(each)}): Promise<${answerType(each)}>\n`)
  const lists = operations
    .flatMap(signatures)
    .flatMap(each =>
      each.item === undefined
        ? []
        : [
            `${comment(`${each.summary}, page by page.`, '  ')}  ${each.id}(${inputOf(each)}): AsyncGenerator<${typeOf(each.item)}, void, undefined>\n`,
          ],
    )
  const table = operations.map(each => `  ${each.id}: ${tableEntry(each)},\n`)
  return plain(
    `import { type CallOptions, type ApiOperation, PounceClient, type PounceOptions } from './client.ts'

export type { CallOptions, PounceOptions } from './client.ts'
export type { EventOptions } from './events.ts'
export { PounceProblem } from './problem.ts'
export type { FileUpload } from './uploads.ts'

${models.join('')}
/** Every operation of the API. */
export interface Api {
${calls.join('')}}

/** Every list of the API, as items of all its pages. */
export interface Lists {
${lists.join('')}}

const operations: Readonly<Record<string, ApiOperation>> = {
${table.join('')}}

/** A client of a Pounce server. */
export class Pounce extends PounceClient<Api, Lists, CloudEvent> {
  constructor(options: PounceOptions) {
    super(operations, options)
  }
}
`,
  )
}

/** Writes the package `@pounce/client` to a folder: JavaScript and declarations. */
export const writeClientPackage = async (folder: string, document: object, version: string): Promise<void> => {
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'src'), { recursive: true })
  for (const file of ['client.ts', 'events.ts', 'problem.ts', 'uploads.ts']) await cp(join(source, file), join(folder, 'src', file))
  await writeFile(join(folder, 'src/index.ts'), clientModule(document))
  await cp(join(source, 'README.md'), join(folder, 'README.md'))
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const compilerOptions = {
    ...{ target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'], types: [], module: 'nodenext', strict: true },
    ...{ exactOptionalPropertyTypes: true, declaration: true, rewriteRelativeImportExtensions: true, rootDir: 'src', outDir: '.' },
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['src/index.ts'] }))
  const manifest = {
    ...{ name: '@pounce/client', version, description: 'A client of Pounce servers', license: 'Apache-2.0', type: 'module' },
    ...{ engines: { node: '>=20.3' }, exports: { '.': { types: './index.d.ts', default: './index.js' } }, sideEffects: false },
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  try {
    await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { cwd: folder })
  } catch (error) {
    // The compiler prints errors to standard output.
    throw new Error(`The client does not compile: ${(error as { readonly stdout?: string }).stdout}`, { cause: error })
  }
  for await (const path of glob('*.d.ts', { cwd: folder })) {
    const text = await readFile(join(folder, path), 'utf8')
    await writeFile(join(folder, path), text.replace(/((?:from |import\()['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'))
  }
  for (const left of ['src', 'tsconfig.json']) await rm(join(folder, left), { recursive: true })
}
