import type { LaneState } from '../../domain/lane/lane.ts'
import type { ApplyRequest } from '../../domain/lane/messages.ts'
import { carried, paged, unpaged } from '../../domain/lane/storage/pages.ts'
import { apply } from '../../domain/lane/reducer/reducer.ts'
import { assertSame, freeze, json } from './lane-books.ts'

/** A packed ledger, which must give the same answers as the plain one. */
export class PagedLane {
  pages = 0
  #state: LaneState

  constructor(state: LaneState) {
    this.#state = state
  }

  restart(state: LaneState): void {
    this.#state = state
  }

  nextRun(plain: LaneState): void {
    this.#state = json(carried(this.#state, 0))
    assertSame(unpaged(this.#state), plain, 'the same carried as packed')
  }

  apply(request: ApplyRequest, now: number, ofBefore: boolean, plain: ReturnType<typeof apply>): void {
    const { state, response, rolledBack } = apply(freeze(this.#state), request, now, ofBefore)
    const { kept: _, keptLimit: __, ...view } = response.view
    const { kept: ___, keptLimit: ____, ...plainView } = plain.response.view
    assertSame({ ...response, view }, { ...plain.response, view: plainView }, 'the same answers from pages')
    assertSame(rolledBack, plain.rolledBack, 'the same owners are notified')
    this.#state = json(paged(state, { page: 1, loose: 0 }))
    this.pages += this.#state.pages?.length ?? 0
    assertSame(unpaged(this.#state), plain.state, 'the same without pages')
  }
}
