import { readFile } from 'node:fs/promises'
import { type Collection, DocumentStore, type Plugin } from 'pounce/sdk'
import type { TestServer } from 'pounce/sdk/testing'

/** Every collection that a plugin of `config/default.json` declares. */
export const declaredCollections = async (): Promise<readonly Collection<object>[]> => {
  const root = new URL('../../', import.meta.url)
  const { plugins } = JSON.parse(await readFile(new URL('config/default.json', root), 'utf8')) as { readonly plugins: readonly string[] }
  const all: Collection<object>[] = []
  for (const id of plugins) {
    const { plugin } = (await import(new URL(`plugins/${id.replace('.', '/')}/index.ts`, root).href)) as { readonly plugin: Plugin }
    all.push(...(plugin.collections ?? []))
  }
  return all
}

/** Every stored document as JSON text, with its collection. */
export const storedTexts = async (server: TestServer): Promise<readonly { readonly collection: string; readonly text: string }[]> => {
  const found: { collection: string; text: string }[] = []
  const documents = server.get(DocumentStore)
  for (const each of await declaredCollections())
    for await (const document of documents.walk(each)) found.push({ collection: each.name, text: JSON.stringify(document) })
  return found
}
