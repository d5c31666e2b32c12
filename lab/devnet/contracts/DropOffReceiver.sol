// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

interface IVaaV1Receiver {
    function executeVAAv1(bytes calldata message) external payable;
}

/// Has the function and the errors of VAAv1ReceiveWithGasDropOff (executor-helpers): delivers a message, then pays the
/// drop-off.
contract DropOffReceiver {
    error InvalidMsgValue(uint256 msgValue, uint256 dropOffValue);
    error DropOffFailed(address payee, uint256 dropOffValue);

    function receiveMessage(address receiver, bytes calldata message, address payee, uint256 dropOff) external payable {
        require(msg.value >= dropOff, InvalidMsgValue(msg.value, dropOff));
        IVaaV1Receiver(receiver).executeVAAv1{value: msg.value - dropOff}(message);
        (bool isPaid,) = payee.call{value: dropOff}("");
        require(isPaid, DropOffFailed(payee, dropOff));
    }
}
