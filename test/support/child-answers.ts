import { writeSync } from 'node:fs'
import { checkAnswers } from '../../core/http/testing/answer-check.ts'

/* Loaded by `--import` into servers that tests start: these survive what is thrown, so their faults go to who started them. */
checkAnswers(fault => writeSync(process.stderr.fd, `\nAnswerFault ${JSON.stringify(fault.message)}\n`))
