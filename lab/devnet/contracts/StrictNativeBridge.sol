// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {NativeBridge} from "./NativeBridge.sol";

/// The native bridge with two defects of the deployed contract, so that relayers are tested against them.
contract StrictNativeBridge is NativeBridge {
    /// Defect: the condition is inverted. It pauses a paused contract and unpauses a running one, so it always reverts.
    function togglePause() external onlyRole(DEFAULT_ADMIN_ROLE) {
        if (paused()) _pause();
        else _unpause();
        emit PauseToggled(paused());
    }

    /// Defect: the function is public, so anyone can spend the budget of the day.
    function _rateLimitInbound(uint256 amount) public {
        _spendInboundBudget(amount);
    }
}
