// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {NativeBridge} from "./NativeBridge.sol";

/// The native bridge with the two defects of the contract that was deployed, so that relayers are tested against them.
contract StrictNativeBridge is NativeBridge {
    /// Inverted: it unpauses what is not paused and pauses what is, so it always reverts.
    function togglePause() external onlyRole(DEFAULT_ADMIN_ROLE) {
        if (paused()) _pause();
        else _unpause();
        emit PauseToggled(paused());
    }

    /// Public: anyone can spend the budget of the day.
    function _rateLimitInbound(uint256 amount) public {
        _spendInboundBudget(amount);
    }
}
