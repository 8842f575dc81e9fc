import { DatabaseSync } from 'node:sqlite'
import { sqliteCode } from './damage.ts'
import type { Answer, Question } from './questions.ts'
import { Refused } from './refused.ts'
import { SearchRun } from './run-search.ts'

interface OpenIndex {
  readonly path: string
  readonly db: DatabaseSync
  readonly run: SearchRun
}

/** Answers questions about one index file at a time, in whatever thread it is made. */
export class Answerer {
  #open: OpenIndex | undefined

  answer(question: Question): Answer {
    try {
      return { value: this.#ask(question) }
    } catch (error) {
      this.close()
      const code = sqliteCode(error)
      const message = error instanceof Error ? error.message : String(error)
      return { failure: { message, isRefusal: error instanceof Refused, ...(code === undefined ? {} : { code }) } }
    }
  }

  close(): void {
    this.#open?.db.close()
    this.#open = undefined
  }

  #ask(question: Question): unknown {
    if (question.ask === 'isWhole') return isWhole(question.path)
    const run = this.#runOn(question.path)
    if (question.ask === 'search') return run.search(question.request)
    if (question.ask === 'tags') return run.tags(question.prefix, question.scope, question.limit)
    return run.fields(question.prefix, question.limit)
  }

  #runOn(path: string): SearchRun {
    if (this.#open?.path === path) return this.#open.run
    this.close()
    const db = new DatabaseSync(path, { readOnly: true })
    db.exec('PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY')
    this.#open = { path, db, run: new SearchRun(db) }
    return this.#open.run
  }
}

function isWhole(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok'
  } finally {
    db.close()
  }
}
