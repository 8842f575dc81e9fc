import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { compareNames } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { type Listed, pageOf } from '../lib/resources.ts'
import { IconButton } from './controls.tsx'
import { Icon } from './icon.tsx'
import { Failure, Loading } from './page-parts.tsx'

/** The collections in a collection, sorted by name. */
export const useChildren = (id: string) =>
  useQuery({
    queryKey: ['collection', id, 'children'],
    queryFn: async () => {
      const { rows } = await pageOf({ address: 'GET /api/collections/{id}/getChildCollections', id }, { limit: 1000 })
      return [...rows].sort((one, other) => compareNames(one.name, other.name))
    },
  })

/** Nested collections; each level is loaded when it is expanded. */
export const CollectionTree = ({ id, label }: { readonly id: string; readonly label: string }) => (
  <nav className="tree" aria-label={label}>
    <Level id={id} />
  </nav>
)

const Level = ({ id }: { readonly id: string }) => {
  const { data, error, refetch } = useChildren(id)
  if (error) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  return (
    <ul>
      {data.map(child => (
        <Branch key={child.id} collection={child} />
      ))}
    </ul>
  )
}

const Branch = ({ collection: { id, name, nested } }: { readonly collection: Listed }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <div className="tree-row">
        {nested > 0 ? (
          <IconButton
            icon={isOpen ? 'chevron-down' : 'chevron-right'}
            label={isOpen ? t('collection.fold', { name }) : t('collection.unfold', { name })}
            aria-expanded={isOpen}
            onPress={() => setOpen(!isOpen)}
          />
        ) : (
          <span className="tree-leaf" />
        )}
        <span className="list-name">
          <Icon name="library" />
          <Link to="/collection/$id" params={{ id }}>
            {name}
          </Link>
        </span>
      </div>
      {isOpen && <Level id={id} />}
    </li>
  )
}
