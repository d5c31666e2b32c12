import { useEffect } from 'preact/hooks'
import type { Links } from '../answers.ts'
import { tokenProblem } from './data/api.ts'
import { useReading } from './data/readings.ts'
import { session } from './data/session.ts'
import { createStore, useStore } from './data/store.ts'
import { filterIn } from './data/transfer-filter.ts'
import { Head } from './parts/head.tsx'
import { OrderDialog } from './parts/order.tsx'
import { Flow } from './views/flow.tsx'
import { Lanes } from './views/lanes.tsx'
import { Nodes } from './views/nodes.tsx'
import { Parked } from './views/parked.tsx'
import { SignIn } from './views/sign-in.tsx'
import { Streams } from './views/streams.tsx'
import { Stuck } from './views/stuck.tsx'
import { Transfer } from './views/transfer.tsx'
import { Transfers } from './views/transfers.tsx'

const address = createStore(location.hash)
window.addEventListener('hashchange', () => address.set(location.hash))

function transferIn(hash: string): string | undefined {
  const [, id] = /^#\/transfer\/(.+)$/.exec(hash) ?? []
  try {
    return id && decodeURIComponent(id)
  } catch {
    return id
  }
}

export function App() {
  const held = useStore(session)
  const problem = useStore(tokenProblem)
  const links = useReading<Links>('v1/links', 60_000)
  const hash = useStore(address)
  const transfer = transferIn(hash)
  const filter = filterIn(hash)
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Head namespace={links.data?.namespace} />
      <main id="main" tabIndex={-1}>
        {!held || problem ? (
          <SignIn problem={problem} />
        ) : transfer !== undefined ? (
          <Transfer id={transfer} links={links.data} key={transfer} />
        ) : filter !== undefined ? (
          <Transfers filter={filter} links={links.data} />
        ) : (
          <Overview links={links.data} />
        )}
      </main>
      <footer>
        Portage. {links.data?.temporalWebUi === undefined && held && 'For links to Temporal: temporal.webUi in the config. '}
        <a href="docs">API</a>
      </footer>
      <OrderDialog />
    </>
  )
}

function Overview({ links }: { readonly links: Links | undefined }) {
  useEffect(() => {
    const [, part] = /^#([a-z]+)$/.exec(location.hash) ?? []
    if (part !== undefined) document.getElementById(part)?.scrollIntoView()
  }, [])
  return (
    <>
      <Stuck />
      <Flow />
      <Parked />
      <Lanes links={links} />
      <Streams links={links} />
      <Nodes />
    </>
  )
}
