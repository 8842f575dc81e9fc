import { useEffect, useRef } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import type { Models } from '../../api.ts'
import { Button } from '../../components/controls.tsx'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { regainFocus } from '../../lib/regain-focus.ts'
import type { SearchAddress } from '../search.tsx'
import { grouped } from './query-rows.ts'

interface Value {
  readonly value: string
  readonly count: number
  readonly name?: string
}

/** Quotes and escapes a text as a phrase of the query language. */
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`

/** Facet values of the hits, with counts; selecting one narrows the search. The selection is stored in the query or in the URL. */
export const Facets = ({
  facets,
  address,
  onChange,
}: {
  readonly facets: Models['SearchFacets'] | undefined
  readonly address: SearchAddress
  readonly onChange: (change: SearchAddress) => void
}) => {
  const margin = useRef<HTMLElement>(null)
  const isWidening = useRef(false)
  const isNarrowed = address.kind !== undefined || address.space !== undefined
  useEffect(() => {
    if (!isNarrowed && isWidening.current) regainFocus(() => margin.current)
    isWidening.current = false
  }, [isNarrowed])
  const and = (condition: string): void => {
    const query = grouped(address.query ?? '')
    if (!` ${query} `.includes(` ${condition} `)) onChange({ query: `${query} ${condition}`.trim() })
  }
  const groups: readonly { readonly id: 'type' | 'tag' | 'space' | 'creator' | 'year'; readonly choose: (value: string) => void }[] = [
    { id: 'type', choose: kind => onChange({ kind }) },
    { id: 'tag', choose: tag => and(`tag==${quoted(tag)}`) },
    { id: 'space', choose: space => onChange({ space }) },
    { id: 'creator', choose: person => and(`creator:${person}`) },
    { id: 'year', choose: year => and(`created:${year}`) },
  ]
  return (
    <aside className="page-margin" aria-label={t('search.narrow')} ref={margin} tabIndex={-1}>
      {isNarrowed && (
        <section>
          <Button
            icon="x"
            onPress={() => {
              isWidening.current = true
              onChange({ kind: undefined, space: undefined })
            }}
          >
            {t('search.widen')}
          </Button>
        </section>
      )}
      {groups.map(({ id, choose }) => {
        const values: readonly Value[] = facets?.[id] ?? []
        return values.length === 0 ? null : (
          <section key={id}>
            <h2>{t(`search.facets.${id}`)}</h2>
            <ul>
              {values.map(({ value, count, name }) => (
                <li key={value} className="facet">
                  <AriaButton className="facet-value" onPress={() => choose(value)}>
                    <span dir="auto">
                      {id === 'type' ? t(`search.kinds.${value as 'file'}`, { defaultValue: value }) : (name ?? value)}
                    </span>
                  </AriaButton>
                  <span className="number faded">{number(count)}</span>
                </li>
              ))}
            </ul>
          </section>
        )
      })}
      {facets && !facets.exact && <p className="help">{t('search.counted')}</p>}
    </aside>
  )
}
