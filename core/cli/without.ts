import type { Environment } from '../kernel/config/environment.ts'
import { isSettings, type Settings } from '../kernel/config/schema-tree.ts'

/** `documents.sqlite` is `DOCUMENTS__SQLITE` in a variable. */
const variablePart = (id: string): string => id.replaceAll('-', '').split('.').join('__')
const plain = (variable: string): string =>
  variable
    .toLowerCase()
    .replace(/^pounce_/, '')
    .replace(/([^_])_([^_])/g, '$1$2')

/** Variables but those that set something of these plugins. */
export const environmentWithout = (environment: Environment, ids: readonly string[]): Environment =>
  Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => !/^pounce_/i.test(name) || !ids.some(id => plain(name).startsWith(`${variablePart(id).toLowerCase()}__`)),
    ),
  )

/** Settings by dotted name but those of these plugins. */
export const flagsWithout = (flags: Readonly<Record<string, string>>, ids: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(flags).filter(([name]) => !ids.some(id => name.startsWith(`${id}.`))))

/** A settings tree without what is below the names of these plugins. */
export const settingsWithout = (settings: Settings, ids: readonly string[]): Settings =>
  Object.fromEntries(
    Object.entries(settings).map(([kind, below]) => [
      kind,
      isSettings(below) ? Object.fromEntries(Object.entries(below).filter(([name]) => !ids.includes(`${kind}.${name}`))) : below,
    ]),
  )
