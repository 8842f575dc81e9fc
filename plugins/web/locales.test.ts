import { readFile } from 'node:fs/promises'
import test from 'ava'

interface Texts {
  readonly [name: string]: string | Texts
}

const textsOf = async (language: string): Promise<ReadonlyMap<string, string>> => {
  const texts = JSON.parse(await readFile(new URL(`./app/locales/${language}.json`, import.meta.url), 'utf8')) as Texts
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
  [...(text ?? '').matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name).sort()

test('each language has the texts of English, none of them empty, with the same variables', async t => {
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
