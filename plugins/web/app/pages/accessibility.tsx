import { KeyList } from '../components/keys-dialog.tsx'
import { PageTitle } from '../components/page-parts.tsx'
import { t } from '../lib/i18n.ts'

const tested = ['axe', 'keyboard', 'contrast', 'reflow', 'motion', 'grid'] as const
const limits = ['people', 'documents', 'readers'] as const

/** How accessible the interface is, and how that was tested. */
export const AccessibilityPage = () => (
  <div className="statement">
    <PageTitle name={t('accessibility.title')} />
    <p>{t('accessibility.aim')}</p>
    <section>
      <h2 className="section-title">{t('accessibility.testedTitle')}</h2>
      <ul className="bullets">
        {tested.map(each => (
          <li key={each}>{t(`accessibility.tested.${each}`)}</li>
        ))}
      </ul>
    </section>
    <section>
      <h2 className="section-title">{t('accessibility.limitsTitle')}</h2>
      <ul className="bullets">
        {limits.map(each => (
          <li key={each}>{t(`accessibility.limits.${each}`)}</li>
        ))}
      </ul>
    </section>
    <section>
      <h2 className="section-title">{t('accessibility.helpTitle')}</h2>
      <p>{t('accessibility.help')}</p>
    </section>
    <section>
      <h2 className="section-title">{t('keys.title')}</h2>
      <KeyList />
    </section>
  </div>
)
