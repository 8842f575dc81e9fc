import { AnswerFault } from '../../core/http/testing/answer-check.ts'

/** Node flags that make a server check its responses. */
export const checkingFlags: readonly string[] = ['--import', new URL('./child-answers.js', import.meta.url).href]

/** Throws the faults that such a server has reported as uncaught exceptions. */
export const throwFaults = (written: string): void => {
  for (const [, message = ''] of written.matchAll(/^AnswerFault (".*")$/gm))
    setImmediate(() => {
      throw new AnswerFault(JSON.parse(message) as string)
    })
}
