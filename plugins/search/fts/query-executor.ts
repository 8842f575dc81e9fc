import { DatabaseSync } from 'node:sqlite'
import { sqliteCodeOf } from 'pounce/sdk/sqlite'
import { FacetCounter } from './facet-counter.ts'
import { InvalidQuery } from './invalid-query.ts'
import { NameLookup } from './name-lookup.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { ScopeFunction } from './rights.ts'
import { SearchRun } from './run-search.ts'
import type { SearchReply, SearchTask } from './search-task.ts'
import { Suggestions } from './suggestions.ts'
import { TagSuggestions } from './tag-suggestions.ts'

interface OpenIndex {
  readonly path: string
  readonly db: DatabaseSync
  readonly run: SearchRun
  readonly facets: FacetCounter
  readonly names: NameLookup
  readonly suggestions: Suggestions
  readonly tags: TagSuggestions
}

/** Runs queries on one index file at a time, in the thread that created it. */
export class QueryExecutor {
  #open: OpenIndex | undefined

  answer(question: SearchTask): SearchReply {
    try {
      return { value: this.#run(question) }
    } catch (error) {
      this.close()
      const code = sqliteCodeOf(error)
      const message = error instanceof Error ? error.message : String(error)
      return { failure: { message, isRefusal: error instanceof InvalidQuery, ...(code === undefined ? {} : { code }) } }
    }
  }

  close(): void {
    this.#open?.db.close()
    this.#open = undefined
  }

  #run(question: SearchTask): unknown {
    if (question.ask === 'isWhole') return isWhole(question.path)
    const open = this.#opened(question.path)
    // All statements of a question see the same state. It also spares each of them the locks of a transaction of its own.
    open.db.exec('BEGIN')
    const value = answerFrom(open, question)
    open.db.exec('COMMIT')
    return value
  }

  #opened(path: string): OpenIndex {
    if (this.#open?.path === path) return this.#open
    this.close()
    const db = new DatabaseSync(path, { readOnly: true })
    db.exec('PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY')
    const scope = new ScopeFunction(db)
    const statements = new PreparedStatements(db)
    const run = new SearchRun(statements, scope)
    const facets = new FacetCounter(statements, run)
    const names = new NameLookup(statements, scope)
    const [suggestions, tags] = [new Suggestions(statements), new TagSuggestions(statements, scope)]
    this.#open = { path, db, run, facets, names, suggestions, tags }
    return this.#open
  }
}

function answerFrom({ run, facets, names, suggestions, tags }: OpenIndex, question: Exclude<SearchTask, { ask: 'isWhole' }>): unknown {
  if (question.ask === 'search') return run.search(question.request)
  if (question.ask === 'facets') return facets.count(question.request)
  if (question.ask === 'names') return names.find(question.request)
  if (question.ask === 'tags') return tags.find(question)
  if (question.ask === 'values') return suggestions.values(question.field, question.prefix, question.scope, question.limit)
  return suggestions.fields(question.prefix, question.scope, question.limit)
}

function isWhole(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok'
  } finally {
    db.close()
  }
}
