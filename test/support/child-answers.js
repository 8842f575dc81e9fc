// Loaded by `--import` into servers that tests start, which check their answers with it: in plain JavaScript, as the bundle that most of them run from is.
import { writeSync } from 'node:fs'
import { currentBundle } from '../../core/bundle.js'

const bundle = process.env['POUNCE_TEST_TREE'] === undefined ? currentBundle() : undefined
if (!bundle) await import('../../core/resolve.js')
const { checkAnswers } = await import(bundle ? `${bundle.url}answer-check.js` : '../../core/http/testing/answer-check.ts')

// A server survives what is thrown, so its faults go to who started it.
checkAnswers(fault => writeSync(process.stderr.fd, `\nAnswerFault ${JSON.stringify(fault.message)}\n`))
