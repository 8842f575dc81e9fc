import { readdir, readFile } from 'node:fs/promises'
import test from 'ava'

interface Texts {
  readonly [name: string]: string | Texts
}

const textsOf = async (language: string): Promise<ReadonlyMap<string, string>> => {
  const read = async (file: string) => JSON.parse(await readFile(new URL(`./app/locales/${file}.json`, import.meta.url), 'utf8')) as Texts
  const texts = { ...(await read(language)), ...(await read(`viewers/${language}`)) }
  const all = new Map<string, string>()
  const walk = (some: Texts, above: string): void => {
    for (const [name, value] of Object.entries(some))
      if (typeof value === 'string') all.set(above + name, value)
      else walk(value, `${above}${name}.`)
  }
  walk(texts, '')
  return all
}

const variablesIn = (text: string | undefined): readonly string[] =>
  [...(text ?? '').matchAll(/\{\{(\w+)(?:, \w+)?\}\}/g)].map(([, name = '']) => name).sort()

test('each language has all English texts, none empty, with the same variables', async t => {
  const [english, german] = await Promise.all([textsOf('en'), textsOf('de')])
  t.true(english.size > 200)
  t.deepEqual([...german.keys()].sort(), [...english.keys()].sort())
  const different = [...english].filter(([key, text]) => variablesIn(german.get(key)).join() !== variablesIn(text).join())
  t.deepEqual(
    different.map(([key]) => key),
    [],
  )
  for (const [key, text] of [...english, ...german]) t.not(text.trim(), '', key)
})

/** Finds keys in the sources of the web app, or in some of its files: string literals, and templates such as `explore.${kind}`. */
const namedIn = async (isOf: (file: string) => boolean = () => true): Promise<(key: string) => boolean> => {
  const app = new URL('./app/', import.meta.url)
  const files = (await readdir(app, { recursive: true })).filter(file => /\.tsx?$/.test(file) && file !== 'api.ts' && isOf(file))
  const source = (await Promise.all(files.map(file => readFile(new URL(file, app), 'utf8')))).join('\n')
  const quoted = new Set([...source.matchAll(/['"]([\w.-]+)['"]/g)].map(([, text = '']) => text))
  const templates = [...source.matchAll(/`([a-zA-Z][\w.]*\.(?:[\w.]|\$\{[^`{}]*\})*)`/g)]
    .map(([, text = '']) => text.split(/\$\{[^}]*\}/).map(part => part.replaceAll('.', '\\.')))
    .filter(parts => parts.length > 1)
    .map(parts => new RegExp(`^${parts.join('[\\w-]+')}$`))
  return key => quoted.has(key) || templates.some(template => template.test(key))
}

test('every text is used', async t => {
  const isNamed = await namedIn()
  const unused = [...(await textsOf('en')).keys()].filter(key => !isNamed(key.replace(/_(?:zero|one|two|few|many|other)$/, '')))
  t.deepEqual(unused, [])
  t.false(isNamed('no.such.text'))
})

test('pages use no texts of viewers, which are loaded later', async t => {
  const { viewer } = JSON.parse(await readFile(new URL('./app/locales/viewers/en.json', import.meta.url), 'utf8')) as { viewer: Texts }
  const texts = Object.entries(viewer).filter(([, text]) => typeof text === 'string')
  t.true(texts.length > 5)
  const isNamed = await namedIn(file => !file.startsWith('viewers/'))
  t.deepEqual(
    texts.map(([name]) => `viewer.${name}`).filter(key => isNamed(key)),
    [],
  )
})
