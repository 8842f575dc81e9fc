import { AnswerFault } from '../../core/http/testing/answer-check.ts'

/** For Node, before the program: the server checks its answers. What that loads is resolved as the program itself is. */
export const checkingFlags: readonly string[] = ['../../core/resolve.js', './child-answers.ts'].flatMap(module => [
  '--import',
  new URL(module, import.meta.url).href,
])

/** Throws, where no one catches, the faults that a server so started has written. */
export const throwFaults = (written: string): void => {
  for (const [, message = ''] of written.matchAll(/^AnswerFault (".*")$/gm))
    setImmediate(() => {
      throw new AnswerFault(JSON.parse(message) as string)
    })
}
