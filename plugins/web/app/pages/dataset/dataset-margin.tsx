import { CopyText } from '../../components/copy-text.tsx'
import { DescriptionSection } from '../../components/description-section.tsx'
import { DotProgress } from '../../components/page-parts.tsx'
import { PartPanels } from '../../components/part-slots.tsx'
import { TagList } from '../../components/tag-list.tsx'
import { api } from '../../lib/api.ts'
import { useExtractionState } from '../../lib/extraction-states.ts'
import { t } from '../../lib/i18n.ts'
import { queries } from '../../lib/queries.ts'
import type { ViewedThing } from '../../viewers/host.ts'
import { type Dataset, useIsProcessing } from './dataset-data.ts'

/** The sidebar with the details of a dataset. */
export const DatasetMargin = ({
  dataset: { id, description, tags, creators, author, license },
  rights,
  thing,
  onDescribe,
}: {
  readonly dataset: Dataset
  readonly rights: ReadonlySet<string>
  readonly thing: ViewedThing
  readonly onDescribe: (text: string, before: string) => Promise<void>
}) => {
  const isProcessing = useIsProcessing(id)
  const extraction = useExtractionState(id)
  const names = tags.map(tag => tag.name)
  const people = [...creators, ...(creators.includes(author.fullName) ? [] : [author.fullName])].filter(person => person !== '')
  const changed = (): Promise<void> => queries.invalidateQueries({ queryKey: ['dataset', id], exact: true })
  return (
    <aside className="page-margin" aria-label={t('dataset.about')}>
      <DescriptionSection description={description} isEditable={rights.has('EditDataset')} onSave={onDescribe} />
      {isProcessing && (
        <section>
          <h2>{t('dataset.processing')}</h2>
          <DotProgress label={t('dataset.processing')} />
        </section>
      )}
      {extraction?.state === 'failed' && (
        <section>
          <h2>{t('failedExtractions')}</h2>
          <p className="failed">{extraction.extractor}</p>
        </section>
      )}
      {(names.length > 0 || rights.has('AddTag')) && (
        <section>
          <h2>{t('dataset.tags')}</h2>
          <TagList
            tags={names}
            onAdd={
              rights.has('AddTag')
                ? added => api('POST /api/datasets/{id}/tags', { path: { id }, body: { tags: added } }).then(changed)
                : undefined
            }
            onRemove={
              rights.has('DeleteTag')
                ? name => api('DELETE /api/datasets/{id}/tags', { path: { id }, body: { tags: [name] } }).then(changed)
                : undefined
            }
          />
        </section>
      )}
      {people.length > 0 && (
        <section>
          <h2>{t('dataset.people')}</h2>
          <ul>
            {people.map(person => (
              <li key={person} dir="auto">
                {person}
              </li>
            ))}
          </ul>
        </section>
      )}
      {license.text !== '' && (
        <section>
          <h2>{t('dataset.license')}</h2>
          <p className="prose">
            {/^https?:\/\//.test(license.url) ? (
              <a href={license.url} rel="license noopener noreferrer">
                {license.text}
              </a>
            ) : (
              license.text
            )}
          </p>
          {license.rightsHolder !== '' && <p className="help">{t('dataset.rightsHolder', { name: license.rightsHolder })}</p>}
        </section>
      )}
      <PartPanels thing={thing} />
      <section>
        <h2>{t('dataset.identifier')}</h2>
        <CopyText text={id} label={t('dataset.copyIdentifier', { id })} />
      </section>
    </aside>
  )
}
