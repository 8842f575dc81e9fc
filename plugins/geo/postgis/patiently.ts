import { isDeadlock } from './problems.ts'

const mostTries = 5

/** Does a piece of work again that the server undid in favour of another. */
export const patiently = async <R>(work: () => Promise<R>): Promise<R> => {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isDeadlock(error) || tries === mostTries) throw error
    }
  }
}
