import { t } from '../../lib/i18n.ts'

const examples = ['words', 'phrase', 'or', 'not', 'field', 'number', 'date', 'tag', 'exists'] as const

const queries: Readonly<Record<(typeof examples)[number], string>> = {
  words: 'soil moisture',
  phrase: '"soil moisture"',
  or: 'soil OR sand',
  not: 'soil NOT dry',
  field: 'name:plot',
  number: 'depth>12',
  date: 'created:2026-04',
  tag: 'tag=="red oak"',
  exists: 'exists:depth',
}

/** A short reference of the query language. */
export const SearchHelp = () => (
  <table className="table sheet search-help">
    <thead>
      <tr>
        <th scope="col">{t('search.example')}</th>
        <th scope="col">{t('search.finds')}</th>
      </tr>
    </thead>
    <tbody>
      {examples.map(example => (
        <tr key={example}>
          <td>
            <code>{queries[example]}</code>
          </td>
          <td>{t(`search.examples.${example}`)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
