import test from 'ava'
import { logContract } from 'pounce/sdk/testing'
import { createLog } from '../services/log.ts'
import { prettyLine } from './pretty-log.ts'

/** Removes the colour around a line and the indented stack below it, which the log adds; colours elsewhere are kept. */
const withoutOwnSigns = (text: string): string =>
  text
    .replace(/^\u001b\[\d+m/, '')
    .replace(/\u001b\[0m\n$/, '')
    .replace(/\n {4}.*/g, '')

logContract(test, () => {
  const written: string[] = []
  const stream = { write: (text: string) => void written.push(text) }
  return { log: createLog({ level: 'debug', stream, pretty: prettyLine }), lines: () => written.map(withoutOwnSigns) }
})
