import { AnswerFault } from '../../core/http/testing/answer-check.ts'

/** For Node, before the program: the server checks its answers. */
export const checkingFlags: readonly string[] = ['--import', new URL('./child-answers.js', import.meta.url).href]

/** Throws, where no one catches, the faults that a server so started has written. */
export const throwFaults = (written: string): void => {
  for (const [, message = ''] of written.matchAll(/^AnswerFault (".*")$/gm))
    setImmediate(() => {
      throw new AnswerFault(JSON.parse(message) as string)
    })
}
