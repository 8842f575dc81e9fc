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

  execute(task: SearchTask): SearchReply {
    try {
      return { value: this.#run(task) }
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

  #run(task: SearchTask): unknown {
    if (task.type === 'isWhole') return isIntact(task.path)
    const open = this.#opened(task.path)
    // All statements of a question see the same state. It also spares each of them the locks of a transaction of its own.
    open.db.exec('BEGIN')
    const value = resultFrom(open, task)
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

function resultFrom({ run, facets, names, suggestions, tags }: OpenIndex, task: Exclude<SearchTask, { type: 'isWhole' }>): unknown {
  if (task.type === 'search') return run.search(task.request)
  if (task.type === 'facets') return facets.count(task.request)
  if (task.type === 'names') return names.find(task.request)
  if (task.type === 'tags') return tags.find(task)
  if (task.type === 'values') return suggestions.values(task.field, task.prefix, task.scope, task.limit)
  return suggestions.fields(task.prefix, task.scope, task.limit)
}

function isIntact(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok'
  } finally {
    db.close()
  }
}
