import { readFileSync } from 'node:fs'

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly scripts: { readonly start: string }
}
const words = scripts.start.split(' ')

/** The flags that `npm start` passes to Node, for scripts that start the server themselves. */
export const startFlags: readonly string[] = words.slice(1, words.indexOf('core/main.js'))
