import { useQuery } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { Button } from '../../components/controls.tsx'
import { toast, toastFailure } from '../../components/toasts.tsx'
import { type Answer, api } from '../../lib/api.ts'
import { t } from '../../lib/i18n.ts'
import { queries } from '../../lib/queries.ts'
import { regainFocus } from '../../lib/regain-focus.ts'
import { refreshSession } from '../../lib/session.ts'

type Invitation = Answer<'GET /api/invitations'>[number]

const key = ['invitation', 'list'] as const

/** The invitations of the user to spaces, which they accept or decline. */
export const Invitations = () => {
  const { data = [] } = useQuery({ queryKey: key, queryFn: () => api('GET /api/invitations', { query: { limit: 20 } }) })
  const heading = useRef<HTMLHeadingElement>(null)
  const reload = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: key })
    await Promise.all([refreshSession(), queries.invalidateQueries({ queryKey: ['space', 'list'] })])
    regainFocus(() => heading.current)
  }
  if (data.length === 0) return null
  return (
    <section>
      <div className="box-head">
        <h2 className="section-title" ref={heading} tabIndex={-1}>
          {t('invitations.title')}
        </h2>
      </div>
      <ul className="plain-list">
        {data.map(invitation => (
          <InvitationLine key={invitation.id} invitation={invitation} onAnswer={reload} />
        ))}
      </ul>
    </section>
  )
}

const InvitationLine = ({
  invitation: { id, author, space, role, message },
  onAnswer,
}: {
  readonly invitation: Invitation
  /** Also called after an answer that was refused, such as one to an invitation that has ended. */
  readonly onAnswer: () => Promise<void>
}) => {
  const [pending, setPending] = useState<'accept' | 'decline'>()
  const line = useId()
  const answer = async (how: 'accept' | 'decline'): Promise<void> => {
    if (pending !== undefined) return
    setPending(how)
    try {
      await api(`POST /api/invitations/{id}/${how}`, { path: { id } })
      toast(t(how === 'accept' ? 'invitations.accepted' : 'invitations.declined', { name: space.name }))
    } catch (error) {
      toastFailure(error)
    }
    await onAnswer()
    setPending(undefined)
  }
  return (
    <li>
      <div className="list-line">
        <span className="list-name" id={line}>
          {t('invitations.line', { person: author.fullName, space: space.name, role: role.name })}
        </span>
        <span className="actions">
          {(['accept', 'decline'] as const).map(how => (
            <Button
              key={how}
              look={how === 'accept' ? 'plain' : 'quiet'}
              aria-describedby={line}
              isPending={pending === how}
              isDisabled={pending !== undefined && pending !== how}
              onPress={() => void answer(how)}
            >
              {t(`invitations.${how}`)}
            </Button>
          ))}
        </span>
      </div>
      {message !== '' && (
        <p className="faded plain-text" dir="auto">
          {message}
        </p>
      )}
    </li>
  )
}
