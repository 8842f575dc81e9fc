import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Button, IconButton, TextField } from '../../components/controls.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { toast, toastFailure } from '../../components/toasts.tsx'
import { api } from '../../lib/api.ts'
import { t } from '../../lib/i18n.ts'
import { queries } from '../../lib/queries.ts'
import { regainFocus } from '../../lib/regain-focus.ts'

const key = ['me', 'searches'] as const

const reload = (): Promise<void> => queries.invalidateQueries({ queryKey: key })

/** Saves a search under a name. */
export const SaveSearch = ({ query }: { readonly query: string }) => {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const save = async (): Promise<void> => {
    await api('POST /api/me/searches', { body: { name: name.trim(), query } })
    setName('')
    toast(t('search.saved.done', { name: name.trim() }))
    await reload()
  }
  return (
    <>
      <Button look="quiet" icon="plus" onPress={() => setOpen(true)}>
        {t('search.saved.save')}
      </Button>
      {isOpen && (
        <FormDialog title={t('search.saved.save')} action={t('save')} isOpen onClose={() => setOpen(false)} onSubmit={save}>
          <TextField label={t('search.saved.name')} value={name} onChange={setName} maxLength={200} isRequired autoFocus />
          <p className="help">
            <code dir="auto">{query}</code>
          </p>
        </FormDialog>
      )}
    </>
  )
}

/** The user's saved searches, to open or delete. */
export const SavedSearches = () => {
  const { data = [] } = useQuery({ queryKey: key, queryFn: ({ signal }) => api('GET /api/me/searches', { signal }) })
  const heading = useRef<HTMLHeadingElement>(null)
  if (data.length === 0) return null
  const remove = async (id: string, name: string, query: string): Promise<void> => {
    await api('DELETE /api/me/searches/{search}', { path: { search: id } })
    await reload()
    regainFocus(() => heading.current)
    const restore = async (): Promise<void> => {
      await api('POST /api/me/searches', { body: { name, query } })
      await reload()
    }
    toast(t('search.saved.deleted', { name }), { label: t('undo'), run: () => void restore().catch(toastFailure) })
  }
  return (
    <section aria-labelledby="saved-searches">
      <h2 id="saved-searches" className="section-title" ref={heading} tabIndex={-1}>
        {t('search.saved.title')}
      </h2>
      <ul className="saved-searches">
        {data.map(({ id, name, query }) => (
          <li key={id}>
            <Link to="/search" search={{ query } as never} dir="auto">
              {name}
            </Link>
            <code className="faded" dir="auto">
              {query}
            </code>
            <IconButton
              icon="trash"
              label={t('search.saved.delete', { name })}
              onPress={() => void remove(id, name, query).catch(toastFailure)}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}
