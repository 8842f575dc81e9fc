import { readFileSync } from 'node:fs'

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly scripts: { readonly start: string }
}
const words = scripts.start.split(' ')

/** What `npm start` tells Node, before the program: for those who start it otherwise and measure it. */
export const startFlags: readonly string[] = words.slice(1, words.indexOf('core/main.js'))
