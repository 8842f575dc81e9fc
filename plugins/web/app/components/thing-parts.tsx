import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components/Menu'
import { t } from '../lib/i18n.ts'
import type { Listed } from '../lib/resources.ts'
import { IconButton } from './controls.tsx'
import { CopyText } from './copy-text.tsx'
import { Time } from './page-parts.tsx'

/** When the resource was created. */
export const Created = ({ of }: { readonly of: string }) => (
  <>
    {t('createdWhen')} <Time of={of} />
  </>
)

/** Description and identifier, beside the list. */
export const Margin = ({ description, id }: { readonly description: string; readonly id: string }) => (
  <aside className="page-margin" aria-label={t('details')}>
    {description !== '' && (
      <p className="plain-text" dir="auto">
        {description}
      </p>
    )}
    <section>
      <h2>{t('identifier')}</h2>
      <CopyText text={id} label={t('dataset.copyIdentifier', { id })} />
    </section>
  </aside>
)

/** The actions for the resource of a page. */
export const ThingMenu = ({
  of,
  onEdit,
  onDelete,
}: {
  readonly of: Listed
  readonly onEdit: () => void
  readonly onDelete: () => void
}) => {
  const canEdit = of.rights.includes(of.kind === 'space' ? 'EditSpace' : 'EditCollection')
  const canDelete = of.rights.includes(of.kind === 'space' ? 'DeleteSpace' : 'DeleteCollection')
  if (!canEdit && !canDelete) return null
  const kind = of.kind
  return (
    <MenuTrigger>
      <IconButton icon="ellipsis" label={t('actionsOn', { name: of.name })} look="plain" />
      <Popover className="popover" placement="bottom end">
        <Menu onAction={key => (key === 'edit' ? onEdit() : onDelete())}>
          {canEdit && (
            <MenuItem id="edit" className="menu-item">
              {t(`edit.${kind}`)}
            </MenuItem>
          )}
          {canDelete && (
            <MenuItem id="delete" className="menu-item destroys">
              {t(of.isTrashed ? 'trash.delete' : `delete.${kind}`)}
            </MenuItem>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  )
}
