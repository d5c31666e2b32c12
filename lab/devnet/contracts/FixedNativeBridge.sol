// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {NativeBridge} from "./NativeBridge.sol";

/// The native bridge without the two defects of the deployed contract: it can be paused, and only completions spend the
/// daily budget.
contract FixedNativeBridge is NativeBridge {
    function togglePause() external onlyRole(DEFAULT_ADMIN_ROLE) {
        if (paused()) _unpause();
        else _pause();
        emit PauseToggled(paused());
    }
}
