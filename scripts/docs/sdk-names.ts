import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A name that an entry of the SDK exports. */
export interface SdkName {
  /** Such as `pounce/sdk/kit`. */
  readonly entry: string
  readonly name: string
  /** The namespace of a member, such as `s`. */
  readonly namespace?: string
  /** Its declaration on one line, without comments. */
  readonly text: string
  readonly isDocumented: boolean
}

/** Entries of the SDK with their files, as `package.json` exports them. */
export const sdkEntries = async (): Promise<readonly (readonly [entry: string, file: string])[]> => {
  const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string>>
  }
  return Object.entries(exports).map(([key, file]) => [`pounce${key.slice(1)}`, file.slice(2)])
}

/** Every public name of the SDK as declared by the compiler, by entry and name. */
export const sdkNames = async (): Promise<readonly SdkName[]> => {
  const entries = await sdkEntries()
  const folder = await mkdtemp(join(tmpdir(), 'pounce-sdk-'))
  try {
    await writeDeclarations(
      folder,
      entries.map(([, file]) => file),
    )
    const modules = new Modules(folder)
    return (await Promise.all(entries.map(([entry, file]) => namesOf(modules, entry, file)))).flat()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const namesOf = async (modules: Modules, entry: string, file: string): Promise<readonly SdkName[]> => {
  const exported = await modules.exportsOf(declarationsOf(file))
  return [...exported].map(([name, one]) => ({ entry, name, ...one })).sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** Emits declarations without type checking, which `npm run types` does. */
const writeDeclarations = async (folder: string, files: readonly string[]): Promise<void> => {
  const compilerOptions = {
    noEmit: false,
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: folder,
    rootDir: root,
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const project = join(folder, 'tsconfig.json')
  const paths = files.map(file => join(root, file))
  await writeFile(project, JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files: paths }))
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', project])
}

const declarationsOf = (file: string): string => file.replace(/\.(?:d\.)?ts$/, '.d.ts')

interface Declaration {
  readonly text: string
  readonly namespace?: string
  readonly isDocumented: boolean
}

/** Declaration files and their exports. */
class Modules {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async exportsOf(path: string): Promise<ReadonlyMap<string, Declaration>> {
    const found = new Map<string, Declaration>()
    for (const { text, isDocumented } of statementsOf(await readFile(join(this.#folder, path), 'utf8'))) {
      const [, from] = / from '([^']+)';?$/.exec(text) ?? []
      const [, name] = /^export (?:declare )?(?:abstract )?(?:const|function|class|interface|type) (\w+)/.exec(text) ?? []
      if (from?.startsWith('.') && text.startsWith('export ')) {
        for (const [each, one] of await this.#reexported(text, declarationsOf(join(dirname(path), from)))) found.set(each, one)
      } else if (name) found.set(name, merged(found.get(name), { text: shorten(text), isDocumented }))
    }
    return found
  }

  async #reexported(statement: string, path: string): Promise<readonly (readonly [string, Declaration])[]> {
    const exported = await this.exportsOf(path)
    const [, namespace] = /^export \* as (\w+) /.exec(statement) ?? []
    if (namespace) return [...exported].map(([name, one]) => [`${namespace}.${name}`, { ...one, namespace }])
    const [, list] = /^export (?:type )?\{(.*)\}/.exec(statement) ?? []
    if (list === undefined) return [...exported]
    return list.split(',').flatMap(each => {
      const name = each.trim().replace(/^type /, '')
      const one = exported.get(name)
      return one ? [[name, one] as const] : []
    })
  }
}

/** Merges a type and a value of the same name, or the overloads of a function. */
const merged = (before: Declaration | undefined, one: Declaration): Declaration =>
  before ? { text: `${before.text} ${one.text}`, isDocumented: before.isDocumented || one.isDocumented } : one

/** Top-level statements, each on one line without comments. The compiler indents continuation lines, or starts them with a closing bracket. */
const statementsOf = (text: string): readonly Declaration[] =>
  text.split(/^(?=\/\*\*|export |declare |import |type |interface |class |const |function )/m).reduce<Declaration[]>((found, part) => {
    const last = found.at(-1)
    const isDocumented = last?.text === '' && last.isDocumented
    if (isDocumented) found.pop()
    const bare = part
      .replaceAll(/\/\*[\s\S]*?\*\//g, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
    found.push({ text: bare, isDocumented: isDocumented || part.startsWith('/**') })
    return found
  }, [])

/** Removes noise: import paths of types, and private members. */
const shorten = (text: string): string =>
  text
    .replace(/^export (?:declare )?/, '')
    .replaceAll(/import\("[^"]*"\)\./g, '')
    .replaceAll(/ (?:#private|private \w+);/g, '')
    .replaceAll(/\{ \}/g, '{}')
