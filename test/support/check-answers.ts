import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createRequire } from 'node:module'
import type { RequestContext } from '../../core/http/request-context.ts'

type AnswerCheck = typeof import('../../core/http/testing/answer-check.ts')

const require = createRequire(import.meta.url)
const name = 'pounce.http.request'

/**
 * Loaded by ava into every worker: the responses of every server in a test are checked (`checkAnswers`). Unless the test has loaded the check itself, it
 * is loaded on the first request, because most workers have no server.
 */
export default (): void => {
  const first = (request: unknown): void => {
    unsubscribe(name, first)
    const { checkAnswers, watch } = require('../../core/http/testing/answer-check.ts') as AnswerCheck
    checkAnswers()
    watch(request as RequestContext)
  }
  subscribe(name, first)
}
