// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {IVaaV1Receiver} from "./DropOffReceiver.sol";

/// Delivers messages to any contract, with coins and a drop-off, and records each delivery. For receivers without a
/// view of their deliveries (docs/operate/executor.md). Has no owner and keeps no coins. Anyone may call it.
contract DeliveryRecord {
    mapping(bytes32 key => bool) public isDelivered;

    event Delivered(bytes32 indexed key, address indexed by);

    error AlreadyDelivered(bytes32 key);
    error DropOffFailed(address payee, uint256 dropOff);

    /// The key covers everything that the payer pays for, so nobody can mark a delivery as done without paying for it.
    /// @param request names the paid request
    function deliver(bytes32 request, address receiver, bytes calldata vaa, address payee, uint256 dropOff)
        external
        payable
    {
        bytes32 key = keccak256(abi.encode(request, receiver, digestOf(vaa), msg.value, payee, dropOff));
        require(!isDelivered[key], AlreadyDelivered(key));
        isDelivered[key] = true;
        emit Delivered(key, msg.sender);
        IVaaV1Receiver(receiver).executeVAAv1{value: msg.value - dropOff}(vaa);
        if (dropOff == 0) return;
        (bool isPaid,) = payee.call{value: dropOff}("");
        require(isPaid, DropOffFailed(payee, dropOff));
    }

    /// Digest of the signed body, because the same message may come with other signatures. A VAA has a version (1
    /// byte), the guardian set (4), the number of signatures (1), 66 bytes per signature, and the body.
    function digestOf(bytes calldata vaa) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(keccak256(vaa[6 + 66 * uint256(uint8(vaa[5])):])));
    }
}
