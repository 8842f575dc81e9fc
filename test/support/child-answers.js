// Loaded with `--import` into servers that tests start, to check their responses. Plain JavaScript, like the bundle that most of them run from.
import { writeSync } from 'node:fs'
import { currentBundle } from '../../core/bundle.js'

const bundle = process.env['POUNCE_TEST_TREE'] === undefined ? currentBundle() : undefined
if (!bundle) await import('../../core/resolve.js')
const { checkAnswers } = await import(bundle ? `${bundle.url}answer-check.js` : '../../core/http/testing/answer-check.ts')

// A server survives exceptions, so faults are reported to its parent process.
checkAnswers(fault => writeSync(process.stderr.fd, `\nAnswerFault ${JSON.stringify(fault.message)}\n`))
