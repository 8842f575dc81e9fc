import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { Button, IconButton, TextField } from '../../components/controls.tsx'
import { SubmitButton } from '../../components/form-parts.tsx'
import { Loading } from '../../components/page-parts.tsx'
import { api } from '../../lib/api.ts'
import { t } from '../../lib/i18n.ts'
import { regainFocus } from '../../lib/regain-focus.ts'
import { QueryError } from './query-error.tsx'
import {
  emptyRow,
  fieldlessOperators,
  operators,
  type QueryConditions,
  type QueryRow,
  type RowOperator,
  rowsOf,
  textOf,
} from './query-rows.ts'

const ownFields = ['name', 'description', 'tag', 'creator', 'created', 'resource_type', 'in']

const typingMs = 300

/** The query as text and as rows of conditions, kept in sync. */
export const QueryBuilder = ({ query, onSearch }: { readonly query: string; readonly onSearch: (query: string) => void }) => {
  const [text, setText] = useState(query)
  const [rows, setRows] = useState<readonly QueryRow[]>()
  const [join, setJoin] = useState<QueryConditions['join']>('and')
  /** The query text that corresponds to `rows`. */
  const [known, setKnown] = useState<string>()
  const [error, setError] = useState<unknown>()
  useEffect(() => setText(query), [query])
  useEffect(() => {
    if (text === known) return
    const abort = new AbortController()
    const read = async (): Promise<void> => {
      try {
        const read = await api('GET /api/search/conditions', { query: { query: text }, signal: abort.signal })
        setRows(rowsOf(read))
        setJoin(read.join)
        setError(undefined)
        setKnown(text)
      } catch (failure) {
        if (!abort.signal.aborted) setError(failure)
      }
    }
    const timer = setTimeout(() => void read(), known === undefined ? 0 : typingMs)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [text, known])
  const change = (next: readonly QueryRow[], by: QueryConditions['join'] = join): void => {
    const written = textOf(next, by)
    setRows(next)
    setJoin(by)
    setText(written)
    setKnown(written)
    setError(undefined)
  }
  return (
    <Form
      className="sheet query-builder"
      onSubmit={event => {
        event.preventDefault()
        onSearch(text.trim())
      }}
    >
      <TextField label={t('search.builder.text')} value={text} onChange={setText} maxLength={10_000} />
      {error !== undefined ? (
        <QueryError error={error} query={text} />
      ) : known === undefined ? (
        <Loading />
      ) : rows ? (
        <Rows rows={rows.length === 0 ? [emptyRow()] : rows} join={join} onChange={change} />
      ) : (
        <p className="help">{t('search.builder.structured')}</p>
      )}
      <div className="actions">
        <SubmitButton isBusy={false}>{t('search.builder.search')}</SubmitButton>
      </div>
    </Form>
  )
}

const Rows = ({
  rows,
  join,
  onChange,
}: {
  readonly rows: readonly QueryRow[]
  readonly join: QueryConditions['join']
  readonly onChange: (rows: readonly QueryRow[], join?: QueryConditions['join']) => void
}) => {
  const list = useId()
  const { data: fields = [] } = useQuery({
    queryKey: ['search', 'fields'],
    queryFn: ({ signal }) => api('GET /api/search/fields', { query: { limit: 100 }, signal }),
    staleTime: 60_000,
  })
  const replace = (row: QueryRow, changed: Partial<QueryRow>): void =>
    onChange(rows.map(each => (each.id === row.id ? { ...each, ...changed } : each)))
  const conditions = useRef<HTMLFieldSetElement>(null)
  const remove = (row: QueryRow): void => {
    onChange(rows.filter(each => each.id !== row.id))
    regainFocus(() => [...(conditions.current?.querySelectorAll('button') ?? [])].at(-1))
  }
  return (
    <fieldset aria-label={t('search.builder.conditions')} className="query-rows" ref={conditions}>
      <select
        className="select"
        aria-label={t('search.builder.join')}
        value={join}
        onChange={event => onChange(rows, event.target.value as QueryConditions['join'])}
      >
        <option value="and">{t('search.builder.and')}</option>
        <option value="or">{t('search.builder.or')}</option>
      </select>
      {rows.map(row => (
        <RowFields key={row.id} row={row} list={list} onChange={changed => replace(row, changed)}>
          <IconButton icon="x" label={t('search.builder.remove')} onPress={() => remove(row)} />
        </RowFields>
      ))}
      <datalist id={list}>
        {[...ownFields, ...fields.map(({ field }) => field)].map(field => (
          <option key={field} value={field} />
        ))}
      </datalist>
      <Button look="quiet" icon="plus" onPress={() => onChange([...rows, emptyRow()])}>
        {t('search.builder.add')}
      </Button>
    </fieldset>
  )
}

const RowFields = ({
  row: { not, field, operator, value },
  list,
  onChange,
  children,
}: {
  readonly row: QueryRow
  readonly list: string
  readonly onChange: (changed: Partial<QueryRow>) => void
  readonly children: ReactNode
}) => {
  const isAnywhere = field.trim() === ''
  const choices = isAnywhere ? [...fieldlessOperators, 'exists', 'missing'] : operators
  const needsValue = operator !== 'exists' && operator !== 'missing'
  return (
    <div className="query-row">
      <select
        className="select"
        aria-label={t('search.builder.not')}
        value={String(not)}
        onChange={event => onChange({ not: event.target.value === 'true' })}
      >
        <option value="false">{t('search.builder.is')}</option>
        <option value="true">{t('search.builder.isNot')}</option>
      </select>
      <input
        className="input"
        aria-label={t('search.builder.field')}
        placeholder={t('search.builder.anywhere')}
        list={list}
        value={field}
        onChange={event => {
          const isField = event.target.value.trim() !== ''
          const keeps = isField || fieldlessOperators.includes(operator)
          onChange({ field: event.target.value, ...(keeps ? {} : { operator: 'words' as const }) })
        }}
      />
      <select
        className="select"
        aria-label={t('search.builder.operator')}
        value={operator}
        onChange={event => onChange({ operator: event.target.value as RowOperator })}
      >
        {choices.map(each => (
          <option key={each} value={each}>
            {t(`search.operators.${names[each as RowOperator]}`)}
          </option>
        ))}
      </select>
      {needsValue ? (
        <input
          className="input"
          aria-label={t('search.builder.value')}
          value={value}
          onChange={event => onChange({ value: event.target.value })}
        />
      ) : (
        <span />
      )}
      {children}
    </div>
  )
}

const names = {
  ...({ words: 'words', phrase: 'phrase', expression: 'expression', exists: 'exists', missing: 'missing' } as const),
  ...({ '==': 'equals', '!=': 'differs', '<': 'less', '<=': 'atMost', '>': 'more', '>=': 'atLeast' } as const),
} satisfies Record<RowOperator, string>
