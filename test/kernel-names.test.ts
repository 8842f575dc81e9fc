import { glob, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { type ImportExpression, type Literal, parse, type TemplateElement } from 'acorn'
import { full } from 'acorn-walk'
import test from 'ava'
import type { OwnKind } from 'pounce/sdk/kit'
import { loadPlugins } from '../core/kernel/plugins.ts'
import { ownPluginIds } from '../core/own-plugins.ts'

const root = join(import.meta.dirname, '..')
const maxLines = 2800

const isTest = (path: string): boolean => /\.test\.ts$|\/fixtures\//.test(path)
const paths = (await Array.fromAsync(glob('core/kernel/**/*.ts', { cwd: root }))).filter(path => !isTest(path)).sort()
const read = async (path: string) => ({ path, text: await readFile(join(root, path), 'utf8') })
const files = await Promise.all(paths.map(read))
/** The sources of the kernel. HTTP may name the API; the command line and the store migration may name stores. */
const around = await Array.fromAsync(glob('core/{*,services/*}.ts', { cwd: root }))

/** Every kind of resource; `false` if the word also has a meaning for the kernel. */
const kinds: Readonly<Record<OwnKind, boolean>> = {
  ...{ space: true, dataset: true, section: true, preview: true, thumbnail: true, metadata: true, comment: true, user: true },
  ...{
    group: true,
    extractor: true,
    vocabulary: true,
    term: true,
    relation: true,
    sensor: true,
    stream: true,
  },
  ...{ file: false, folder: false, collection: false, definition: false, role: false, key: false, job: false },
}
/** Servers that plugins connect to, besides the packages that they import. */
const servers = [
  'clowder',
  'elasticsearch',
  'mongo',
  'postgis',
  'postgres',
  'rabbitmq',
  'sqlite',
  'ldap',
  'oidc',
  'smtp',
  's3',
  'tus',
  'clamav',
]

/** Packages that plugins import. */
const packages = async (): Promise<readonly string[]> => {
  const sources = await Array.fromAsync(glob('plugins/**/*.ts', { cwd: root }))
  const texts = await Promise.all(sources.filter(path => !isTest(path)).map(path => readFile(join(root, path), 'utf8')))
  const named = texts.flatMap(text => [...text.matchAll(/^import [^'";]*'([^'.][^']*)'/gm)].map(([, specifier = '']) => specifier))
  return [...new Set(named)].filter(name => !/^(node:|pounce\/|ava$)/.test(name))
}

/** Strings, regular expressions and template parts in a module's code, except imports, which are checked elsewhere. */
const textsIn = (code: string): readonly { readonly text: string; readonly line: number }[] => {
  const found: { text: string; line: number }[] = []
  const tree = parse(stripTypeScriptTypes(code), { ecmaVersion: 'latest', sourceType: 'module', locations: true })
  const imported = new Set<unknown>()
  full(tree, node => {
    if (node.type === 'ImportExpression') imported.add((node as ImportExpression).source)
  })
  full(tree, node => {
    if (imported.has(node)) return
    const line = node.loc?.start.line ?? 0
    if (node.type === 'Literal') {
      const { value, regex } = node as Literal
      if (regex) found.push({ text: regex.pattern, line })
      else if (typeof value === 'string') found.push({ text: value, line })
    }
    if (node.type === 'TemplateElement') found.push({ text: (node as TemplateElement).value.cooked ?? '', line })
  })
  return found
}

test(`the kernel has at most ${maxLines} lines`, t => {
  t.true(paths.length > 20)
  const lines = files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
  t.true(lines <= maxLines, `${lines} lines`)
})

test('no string in the kernel names a plugin, a kind of resource, a server that plugins use, or a path of the API', async t => {
  const plugins = await loadPlugins(ownPluginIds().map(plugin => ({ plugin })))
  const words = [...Object.entries(kinds).flatMap(([kind, isOfPlugins]) => (isOfPlugins ? [kind] : [])), ...servers]
  const forbidden = [
    ...plugins.map(({ name }) => name),
    ...(await packages()),
    ...words.flatMap(word => [word, `${word}s`, word.replace(/y$/, 'ies')]),
  ]
  t.true(forbidden.length > 100)
  const pattern = new RegExp(`(?<![\\w-])(?:${forbidden.map(name => RegExp.escape(name)).join('|')})(?![\\w-])|/api\\b`, 'i')
  const looked = [...files, ...(await Promise.all(around.filter(path => !isTest(path)).map(read)))]
  t.true(looked.length > files.length + 5)
  t.deepEqual(
    looked.flatMap(({ path, text }) =>
      textsIn(text).flatMap(one => {
        const match = pattern.exec(one.text)
        return match ? [`${path}:${one.line} names ${match[0]}`] : []
      }),
    ),
    [],
  )
})

test('the kernel imports nothing else of core but types, HTTP settings, JSON Schema, the list of our plugins and error locations', t => {
  const allowed: ReadonlySet<string> = new Set(['core/error-place.ts', 'core/http/config.ts', 'core/json-schema.ts', 'core/own-plugins.ts'])
  const outside = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^import (?!type )[^'";]*'(\.[^']*)'/gm)]
      .map(([, specifier = '']) => join(path, '..', specifier))
      .filter(target => !target.startsWith('core/kernel/') && !allowed.has(target))
      .map(target => `${path} imports ${target}`),
  )
  t.deepEqual(outside, [])
})

test('the store migration imports nothing of the kernel but its type and startup errors', async t => {
  const sources = (await Array.fromAsync(glob('core/store-migration/*.ts', { cwd: root }))).filter(path => !isTest(path))
  t.true(sources.length > 5)
  const allowed = ['core/kernel/startup-error.ts']
  for (const path of sources)
    for (const [whole, specifier = ''] of (await readFile(join(root, path), 'utf8')).matchAll(/^import [^'";]*'(\.[^']*)'/gm)) {
      const target = join(path, '..', specifier)
      const isType = whole.startsWith('import type { Kernel }') && target === 'core/kernel/kernel.ts'
      t.true(target.startsWith('core/store-migration/') || allowed.includes(target) || isType, `${path} imports ${target}`)
    }
})
